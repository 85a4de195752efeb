import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { metaLine } from "../rollouts/search/rollout-library.js";
import { Cli, commandOf } from "../support/cli.js";
import { TmuxScreen } from "../support/cli-tmux.js";

const runFile = promisify(execFile);

/** Every character that a shell gives a meaning, and the commands would leave a file. */
const names = ["$(touch x)", "`touch y` & touch z", `it's "two" words`, "colon:equals=back\\slash !"];

/** Conversations with hostile names, the scripts, and a `cody` in PATH that prints the arguments of other commands. */
async function openShell(): Promise<{ cli: Cli; script: (shell: string) => string; env: NodeJS.ProcessEnv }> {
  const cli = await Cli.open();
  const bin = join(cli.project, "bin");
  await mkdir(cli.conversations, { recursive: true });
  await mkdir(bin);
  for (const [index, name] of names.entries()) {
    await writeFile(join(cli.conversations, `conv_${index}.jsonl`), metaLine(`conv_${index}`));
    await cli.run(["rename", `conv_${index}`, name]);
  }
  const cody = join(bin, "cody");
  const program = commandOf([]).map((word) => `'${word}'`);
  await writeFile(
    cody,
    `#!/bin/sh\nif [ "$1" = completion ]; then exec ${program.join(" ")} "$@"; fi\nprintf '<%s>' "$@"; echo\n`,
  );
  await chmod(cody, 0o755);
  const script = (shell: string): string => join(cli.project, shell === "zsh" ? "_cody" : `cody.${shell}`);
  for (const shell of ["bash", "zsh", "fish"]) {
    await writeFile(script(shell), (await cli.run(["completion", shell])).stdout);
  }
  return { cli, script, env: { ...cli.env, PATH: `${bin}:${process.env["PATH"]}`, TERM: "dumb", LANG: "C.UTF-8" } };
}

/** The files that exist if a name was run as a command. */
async function filesOfCommands({ project }: Cli): Promise<string[]> {
  return (await readdir(project)).filter((name) => ["x", "y", "z"].includes(name));
}

/** The lines that are completed, and what must be offered among others. */
const offers: readonly (readonly [string, readonly string[]])[] = [
  ["cody resu", ["resume"]],
  ["cody conv", ["conversation", "conv"]],
  ["cody session re", ["rename", "restore"]],
  ["cody auth log", ["login", "logout"]],
  ["cody chat --sandb", ["--sandbox"]],
  ["cody chat --sandbox ", ["read-only", "workspace-write", "danger-full-access"]],
  ["cody --home /tmp list --sort c", ["created"]],
  ["cody -p --max-t", ["--max-turns"]],
  ["cody set-provider anth", ["anthropic"]],
  ["cody config set compaction.rat", ["compaction.ratio"]],
  ["cody show conv_", ["conv_0", "conv_1", "conv_2", "conv_3"]],
  ["cody chat --resume conv_", ["conv_0", "conv_1", "conv_2", "conv_3"]],
  ["cody delete conv_0 conv_3", ["conv_3"]],
  ["cody conv rename conv_2", ["conv_2"]],
  ["cody export --output cody.ba", ["cody.bash"]],
  ["cody completion ", ["bash", "zsh", "fish", "man"]],
];

test.each(offers)("fish: %s", async (line, expected) => {
  const { cli, script, env } = await openShell();
  const code = `source ${script("fish")}; complete -C '${line}'`;
  const { stdout } = await runFile("fish", ["--no-config", "-c", code], { env, cwd: cli.project });
  expect(stdout.split("\n").map((row) => row.split("\t")[0])).toEqual(expect.arrayContaining([...expected]));
});

test.each(offers.filter(([line]) => !line.includes("--output")))("bash: %s", async (line, expected) => {
  const { cli, script, env } = await openShell();
  const code = `source ${script("bash")}; COMP_LINE=$1 COMP_POINT=\${#1}; _cody; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await runFile("bash", ["--norc", "-c", code, "bash", line], { env, cwd: cli.project });
  expect(stdout.split("\n")).toEqual(expect.arrayContaining([...expected]));
});

/** Zsh's own functions, which only exist while a line is edited, print what they would offer. */
const zshFunctions = `
compdef() { }
_describe() { print -rl -- \${(P)@[-1]} }
compadd() { print -rl -- \${(P)@[-1]} }
compset() { PREFIX=\${PREFIX#*=} }
`;

test.each(offers.filter(([line]) => !line.includes("--output")))("zsh: %s", async (line, expected) => {
  const { cli, script, env } = await openShell();
  const code = `${zshFunctions} source ${script("zsh")}; words=("\${(@s: :)1}") CURRENT=$#words PREFIX=$words[-1]; _cody`;
  const { stdout } = await runFile("zsh", ["-f", "-c", code, "zsh", line], { env, cwd: cli.project });
  expect(stdout.split("\n").map((row) => row.split(":")[0])).toEqual(expect.arrayContaining([...expected]));
});

/** What is typed before Tab, and the arguments that the completed line has. */
const completed = [
  ["cody show \\$", "<show><$(touch x)>"],
  ["cody show '$", "<show><$(touch x)>"],
  ['cody show "\\$', "<show><$(touch x)>"],
  ["cody show \\`", "<show><`touch y` & touch z>"],
  ["cody show it", `<show><it's "two" words>`],
  ['cody show "it', `<show><it's "two" words>`],
  ["cody show col", "<show><colon:equals=back\\slash !>"],
  ["cody show colon:eq", "<show><colon:equals=back\\slash !>"],
  ["cody chat --sandbox=dang", "<chat><--sandbox=danger-full-access>"],
  ["cody export --output cody.ba", "<export><--output><cody.bash>"],
] as const;

const interactive = {
  bash: ["bash", "--norc", "--noprofile", "-i"],
  zsh: ["zsh", "-f", "-i"],
  fish: ["fish", "--no-config", "-i"],
} as const;

/** Prepares the completion of a shell, and a prompt to wait for. */
const preparations = {
  bash: (script: string) => `source ${script}; PS1='ready> '`,
  zsh: (script: string) => `fpath=(${dirname(script)} $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '`,
  fish: (script: string) => `source ${script}; function fish_prompt; echo 'ready> '; end`,
} as const;

test.each(["bash", "zsh", "fish"] as const)(
  "%s inserts names so that the command gets them unchanged",
  async (shell) => {
    const { cli, script, env } = await openShell();
    const program = ["env", `PATH=${env["PATH"]}`, ...interactive[shell]];
    const screen = await TmuxScreen.open(cli, [], { program, columns: 120 });
    await screen.enter(preparations[shell](script(shell)));
    await screen.shows("ready>");
    for (const [index, [typed, args]] of completed.entries()) {
      await screen.type(typed);
      await screen.press("Tab");
      // The shell has put a space after the completed word.
      await screen.enter(String(index));
      await screen.shows(`${args}<${index}>`);
    }
    await screen.enter("exit");
    expect(await screen.ends()).toBe(0);
    expect(await filesOfCommands(cli)).toEqual([]);
  },
);

test("man renders the page without a warning", async () => {
  const { cli, env } = await openShell();
  const page = join(cli.project, "cody.1");
  await writeFile(page, (await cli.run(["completion", "man"])).stdout);
  const { stdout, stderr } = await runFile("man", ["--warnings", "-l", page], { env: { ...env, MANWIDTH: "100" } });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/CODY\(1\) [^]*--approval-policy <policy>[^]*cody completion fish \| source/);
});

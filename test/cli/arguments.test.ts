import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type CommandFlags,
  commandGroups,
  type CommandName,
  commandNames,
  commandRow,
  everydayCommands,
} from "../../src/cli/arguments/command-table.js";
import { type FlagName, flagRow, flagUsage, globalFlags } from "../../src/cli/arguments/flag-table.js";
import { parseArguments } from "../../src/cli/arguments/parse-arguments.js";
import { version } from "../../src/version.js";
import { Cli } from "../support/cli.js";

test.each([["--version"], ["-v"], ["--json", "--version"], ["version"]])("%s prints the version", async (...args) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: "" });
});

test("--help lists the commands of every day and the groups, and help --all every command", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const name of [...everydayCommands, ...commandGroups.map((group) => group.name)]) {
    expect(stdout).toMatch(new RegExp(`\n {2}${name} `));
  }
  const flags =
    "model provider api resume continue no-persistence conversation-dir approval-policy sandbox json home list";
  for (const flag of flags.split(" ")) expect(stdout).toContain(`--${flag}`);
  for (const policy of ["on-request", "untrusted", "never"]) expect(stdout).toContain(`--approval-policy ${policy} `);
  expect((await cli.run(["list", "--help"])).stdout).toContain("cody list [options]");
  const all = await cli.run(["help", "--all"]);
  const members = commandGroups.flatMap((group) =>
    Object.entries(group.commands).flatMap(([member, command]) =>
      everydayCommands.includes(command) ? [] : [`${group.name} ${member}`],
    ),
  );
  for (const name of [...everydayCommands, ...members]) expect(all.stdout).toContain(`\n  ${name} `);
  // Old names are not listed a second time.
  expect(all.stdout).not.toContain("\n  search ");
  expect(all.stdout).not.toContain("\n  repair ");
});

test("every command is listed by a level of help below it: an everyday one or the member of a group", () => {
  const members = commandGroups.flatMap(({ commands }) => Object.values(commands));
  const listed = new Set<string>(["", ...everydayCommands, ...members]);
  expect(commandNames.filter((name) => !listed.has(name))).toEqual([]);
});

test("help is also a command, with an optional command or group", async () => {
  const cli = await Cli.open();
  const whole = await cli.run(["--help"]);
  expect(await cli.run(["help"])).toEqual(whole);
  expect(whole.stdout).toMatch(/\n {2}help \[\.{3}command\] .*\n {2}version /);
  expect(await cli.run(["help", "chat"])).toEqual(await cli.run(["chat", "--help"]));
  expect(await cli.run(["help", "help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("cody help [") });
  expect(await cli.run(["help", "lst"])).toMatchObject({ code: 2, stderr: unknownCommand("lst", "list") });
  const group = await cli.run(["help", "conversation"]);
  expect(group).toMatchObject({ code: 0, stdout: expect.stringContaining("\n  conversation restore [id] ") });
  for (const same of [["conversation"], ["conv"], ["conversation", "--help"], ["help", "session"]]) {
    expect(await cli.run(same)).toEqual(group);
  }
  const search = await cli.run(["help", "conversation", "search"]);
  expect(search).toEqual(await cli.run(["conv", "search", "--help"]));
  expect(search.stdout).toContain("cody conversation search <...words> [options]");
});

test.each(commandNames)("the help of '%s' shows its two examples, which parse", async (name) => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(helpArguments(name));
  for (const example of commandRow(name).examples) {
    expect(stdout).toContain(`\n  ${example}\n`);
    const [, ...argv] = words(example.split(" | ").find((part) => part.startsWith("cody")) ?? "");
    expect(parseArguments(argv).name).toBe(["help", "version"].includes(name) ? "" : name);
  }
});

/** Arguments that print the help of a command; `auth` alone is a group. */
function helpArguments(name: CommandName): string[] {
  if (name === "") return ["--help"];
  return name === "auth" ? ["help", "auth", "status"] : ["help", name];
}

/** The words of a command line whose only quotes are double ones around whole words. */
function words(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? "");
}

test.each([
  [["conversation", "list"], ["list"]],
  [
    ["conv", "search", "needle"],
    ["search", "needle"],
  ],
  [
    ["session", "stats", "--json"],
    ["stats", "--json"],
  ],
  [
    ["auth", "status", "--json"],
    ["auth", "--json"],
  ],
  [["provider", "list"], ["providers"]],
  [
    ["debug", "index", "status"],
    ["index", "status"],
  ],
])("%j is another name of %j", async (typed, same) => {
  const cli = await Cli.open();
  expect(await cli.run(typed)).toEqual(await cli.run(same));
});

test("an unknown member of a group is rejected with the nearest one", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["conversation", "serach", "x"])).toMatchObject({
    code: 2,
    stderr: "✗ Unknown command 'cody conversation serach'\n  Did you mean search?\n  See: cody help conversation\n",
  });
});

test.each([
  ["-p", ["-p", "What is 2+2?", "--provider", "offline"]],
  ["--print in front of the words", ["--provider", "offline", "--print", "What is 2+2?"]],
  ["several words", ["What", "is", "2+2?", "--provider", "offline"]],
  ["one argument of several words", ["What is 2+2?", "--provider", "offline"]],
  ["words behind --", ["--provider", "offline", "--", "What is 2+2?"]],
])("a prompt is sent without a command: %s", async (_name, args) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 0, stdout: expect.stringContaining("4") });
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["What is 2+2?"]);
});

/** Flags without a use for people are accepted, but not listed. */
function isShown(flag: FlagName): boolean {
  return flagRow(flag).isHidden !== true;
}

test.each(commandNames)("the help of '%s' lists exactly its flags and the global ones separately", async (name) => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(helpArguments(name));
  const section = (title: string): string[] => {
    const [, rows = ""] = stdout.split(`\n${title}:\n`);
    const [lines = ""] = rows.split("\n\n");
    return lines.split("\n").flatMap((line) => line.match(/^ {2}(-.*?) {2}/)?.[1] ?? []);
  };
  expect(section("Options")).toEqual(commandRow(name).flags.filter(isShown).map(flagUsage));
  expect(section("Global options")).toEqual(globalFlags.map(flagUsage));
});

test("list --help shows no conversation flags", async () => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["list", "--help"]);
  for (const flag of ["--limit", "--sort", "--conversation-dir", "--json", "--home"]) expect(stdout).toContain(flag);
  for (const flag of ["--model", "--sandbox", "--resume", "--force"]) expect(stdout).not.toContain(flag);
});

test("a flag of other commands is rejected with the names of those commands", async () => {
  const cli = await Cli.open();
  const refused = { code: 2, signal: null, stdout: "" };
  const dryRun = "compact, clean, knowledge, import, scrub".split(", ");
  expect(await cli.run(["check", "--fork", "id"])).toEqual({
    ...refused,
    stderr: "✗ Unknown option --fork for cody check\n  It is an option of: resume\n  See: cody check --help\n",
  });
  for (const args of [
    ["list", "--model", "x"],
    ["--model", "x", "list"],
    ["list", "--model=x"],
  ]) {
    const stderr = expect.stringMatching(
      /^✗ Unknown option --model for cody list\n {2}It is an option of: new, chat, /,
    );
    expect(await cli.run(args)).toEqual({ ...refused, stderr });
  }
  const bare = await cli.run(["--dry-run"]);
  expect(bare).toEqual({ ...refused, stderr: expect.stringContaining("Unknown option --dry-run without a command\n") });
  for (const name of dryRun) expect(bare.stderr).toContain(name);
});

test.each([
  ["--modle", "--model"],
  ["--MODEL", "--model"],
  ["--baseUrl", "--base-url"],
  ["--approval", "--approval-policy"],
  ["--sandbxo=read-only", "--sandbox"],
  ["--no-stdn", "--no-stdin"],
])("a misspelled flag is rejected with the nearest suggestion: %s", async (typed, meant) => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", typed, "hello"])).toMatchObject({
    code: 2,
    stderr: `✗ Unknown option ${typed.split("=")[0]}\n  Did you mean ${meant}?\n  See: cody chat --help\n`,
  });
});

test("--help works even with an invalid number", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["list", "--limit", "many", "--help"])).toMatchObject({ code: 0, stderr: "" });
  expect(await cli.run(["list", "--limit", "many"])).toMatchObject({
    code: 2,
    stderr: "✗ --limit: expected a whole number from 1 to 999999999, not 'many'\n  See: cody list --help\n",
  });
});

test.each([
  ["chta", "chat"],
  ["Chat", "chat"],
  ["resum", "resume"],
  ["set-provder", "set-provider"],
  ["hlep", "help"],
])("a misspelled command is rejected with the nearest suggestion: %s", async (typed, meant) => {
  const cli = await Cli.open();
  expect(await cli.run([typed, "hello"])).toEqual({
    code: 2,
    signal: null,
    stdout: "",
    stderr: unknownCommand(typed, meant),
  });
});

function unknownCommand(typed: string, meant: string): string {
  const asPrompt = `To send it as a message: cody -- ${typed}`;
  return `✗ Unknown command '${typed}'. Did you mean ${meant}?\n  ${asPrompt}\n  See: cody help\n`;
}

test.each(["hello there", "test it", "read README.md", "fix this"])(
  "two words of which the first is only a little like a command are a message: %s",
  (text) => {
    const typed = text.split(" ");
    expect(parseArguments(typed)).toMatchObject({ name: "", args: typed });
  },
);

test("a single word is never a prompt, because it may be a mistyped command", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["frobnicate"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    "✗ Unknown command 'frobnicate'\n  To send it as a message: cody -- frobnicate\n  See: cody help\n",
  );
  expect(await cli.ids()).toEqual([]);
});

test.each([
  [["--frob"], "Unknown option --frob"],
  [["chat", "--frob", "hello"], "Unknown option --frob"],
  [["--frob=1", "chat", "hello"], "Unknown option --frob"],
  [["chat", "-x", "hello"], "Unknown option -x"],
  [["chat", "-json", "hello"], "Did you mean --json?"],
  [["chat", "--limit", "3"], "Unknown option --limit"],
  [["chat", "--constructor", "hello"], "Unknown option --constructor"],
  [["chat", "--__proto__", "hello"], "Unknown option --__proto__"],
  [["chat", "-5 degrees"], "Unknown option -5 degrees"],
  [["chat", "hello", "--model"], "--model needs a value"],
  [["chat", "hello", "--model="], "--model needs a value"],
  [["chat", "--no-model", "hello"], "Unknown option --no-model"],
  [["chat", "--json=no", "hello"], "--json takes no value"],
  [["chat", "--api", "soap", "hello"], "--api: "],
  [["chat", "--sandbox", "none", "hello"], "--sandbox: "],
  [["chat", "--approval-policy", "always", "hello"], "--approval-policy: "],
  [["chat", "--provider", "Open AI", "hello"], "--provider: "],
  [["list", "everything"], "Unexpected argument 'everything'"],
  [["resume", "a", "b"], "Unexpected argument 'b'"],
  [["set-provider"], "Missing argument: provider"],
  [["set-auth"], "Missing argument: method"],
])("%j is a usage error: exit code 2 and a hint", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
  expect(await cli.ids()).toEqual([]);
});

test("a configuration that does not parse is reported by path without quoting its content", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(join(cli.home, "config.json"), '{"provider": "sk-secretsecretsecret');
  const { code, stderr } = await cli.run(["chat", "hello"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("config.json: invalid JSON") });
  expect(stderr).not.toContain("secret");
});

test("a command's type has exactly the flags it declares", () => {
  const declared: Pick<CommandFlags<"list">, "limit" | "all"> = { limit: 3, all: false };
  // @ts-expect-error: list does not declare --model, so reading it does not compile
  type Undeclared = Pick<CommandFlags<"list">, "model">;
  const values: readonly (Undeclared | typeof declared)[] = [declared];
  expect(values).toEqual([{ limit: 3, all: false }]);
});

test.each([
  ["approvals show", "approvals show: the id of a request is missing", "cody approvals"],
  ["approvals answer", "approvals answer: the id of a request is missing", "cody approvals"],
  ["approvals answer 5f0c", "approvals answer: the answer is missing", "yes|always|project|no|stop"],
  ["knowledge add", "the text is empty", "cody knowledge add"],
  ["completion", "Missing argument: shell, one of bash, zsh, fish, man", "cody help completion"],
  ["exec resume", "Missing argument: id", "cody exec resume <id>|--last"],
  ["daemon begin", "daemon begin: expected start", "See: cody daemon --help"],
])("cody %s names what is missing and what to do", async (typed, problem, next) => {
  const { code, stderr } = await (await Cli.open()).run(typed.split(" "));
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
  expect(stderr).toContain(next);
});

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { quotedWord } from "../../../base/text/quoted-command.js";
import { exitCodes } from "../../command-error.js";
import { type ContextOf, printLine } from "../../context.js";
import { type Interruption, watchSignals } from "../../terminal/interruption.js";
import { Prompt } from "../../terminal/prompt/prompt.js";
import type { Terminal } from "../../terminal/terminal.js";

interface Step {
  readonly text: string;
  readonly args: readonly string[];
}

const steps: readonly Step[] = [
  { text: "A message starts a conversation, which is saved at once.", args: ["chat", "my name is Ada"] },
  { text: "The next message continues it, also days later and after a crash.", args: ["chat", "what is my name?"] },
  { text: "The model uses tools. Reading needs no question.", args: ["chat", "read README.md"] },
  {
    text: "Changes need your approval, unless a flag says otherwise.",
    args: [
      "chat",
      "write notes.txt: made by the tour",
      "--sandbox",
      "danger-full-access",
      "--approval-policy",
      "never",
    ],
  },
  { text: "Every turn's changes can be shown as a patch,", args: ["diff"] },
  { text: "and reverted.", args: ["undo", "--yes"] },
  { text: "Conversations can be listed,", args: ["list"] },
  { text: "searched,", args: ["search", "Ada"] },
  { text: "and resumed later, by name or id.", args: ["resume", "--last"] },
  {
    text: "Scripts use exec: stdout is only the answer, and the exit code says how it ended.",
    args: ["exec", "what is 6 * 7?", "--quiet"],
  },
  { text: "Many tasks run with run, several at a time.", args: ["run", "tasks.jsonl", "--quiet"] },
];

const tasks = ["What is 2+2?", "What is 3+3?"].map((prompt) => `${JSON.stringify({ prompt })}\n`).join("");

/** A tour of the everyday commands: they really run, with the offline model, in a folder that is removed at the end. */
export async function demoCommand(context: ContextOf<"demo">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const folder = await mkdtemp(join(await realpath(tmpdir()), "cody-demo-"));
  try {
    const project = join(folder, "project");
    await mkdir(project);
    await writeFile(join(project, "README.md"), "# Demo\n\nA project for the tour.\n");
    await writeFile(join(project, "tasks.jsonl"), tasks);
    await say(context, `This tour runs real commands with the built-in offline model, in ${project}.`);
    return await tour(context, touring(context.terminal, folder, project), interruption);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tour(context: ContextOf<"demo">, terminal: Terminal, interruption: Interruption): Promise<number> {
  const results: { readonly command: string; readonly exit_code: number }[] = [];
  for (const { text, args } of steps) {
    const command = ["cody", ...args].map(quotedWord).join(" ");
    await say(context, `\n${text}\n$ ${command}`);
    if (!(await goesOn(context, interruption))) return interruption.exitCode ?? 0;
    const flags = context.flags.json ? ["--json"] : [];
    const exitCode = await context.runCommandLine([...args, ...flags], context.flags.json ? quiet(terminal) : terminal);
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    results.push({ command, exit_code: exitCode });
    if (exitCode !== 0) break;
  }
  if (context.flags.json) await printLine(context, JSON.stringify({ steps: results }));
  const failed = results.find(({ exit_code }) => exit_code !== 0);
  if (failed !== undefined) {
    await context.tell(`The tour ends here: ${failed.command} ended with code ${failed.exit_code}`);
    return exitCodes.failed;
  }
  await say(context, "\nThat was the tour; its folder is removed. Next: cody set-auth openai-api-key -, then cody");
  return 0;
}

async function say(context: ContextOf<"demo">, text: string): Promise<void> {
  if (!context.flags.json) await printLine(context, text);
}

/** The terminal of the commands: another home and folder, no keys, and nothing to read. */
function touring(terminal: Terminal, folder: string, project: string): Terminal {
  const { PATH, TERM, LANG, TZ, NO_COLOR, COLUMNS } = terminal.env;
  const env = { PATH, TERM, LANG, TZ, NO_COLOR, COLUMNS, HOME: folder, CODY_HOME: join(folder, "home") };
  return Object.create(terminal, {
    env: { value: { ...env, CODY_PROVIDER: "offline" } },
    cwd: { value: project },
    homedir: { value: folder },
    stdin: { get: () => Readable.from([]) },
    isStdinPiped: { value: false },
  }) as Terminal;
}

/** With --json, only the summary of the tour is printed. */
function quiet(terminal: Terminal): Terminal {
  const nowhere = { ...terminal.stdout, write: nothing, writeParts: nothing, writeExact: nothing, flush: nothing };
  return Object.create(terminal, { stdout: { value: nowhere } }) as Terminal;
}

async function nothing(): Promise<void> {}

/** On a terminal, waits for Enter; false if the person wants to stop. */
async function goesOn({ terminal, flags }: ContextOf<"demo">, interruption: Interruption): Promise<boolean> {
  if (interruption.signal.aborted) return false;
  const { stdin, stdout } = terminal;
  if (stdin.isTTY !== true || !stdout.isTTY || flags.json) return true;
  const prompt = await Prompt.open(stdin, stdout.stream, {
    line: () => undefined,
    interrupt: () => interruption.interrupt(),
    end: () => undefined,
  });
  try {
    const answer = await prompt.ask("Enter runs it, q ends the tour › ", interruption.signal);
    return answer !== undefined && !/^\s*q/i.test(answer);
  } finally {
    prompt.close();
  }
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { TmuxScreen, type TmuxOptions } from "../support/cli-tmux.js";

const repeatedQuestion = "Please answer with y, a, n or s.\ny/a/n/s > \n";

/** Where a sandbox works, commands inside it run without a question. */
const failingSandbox = fileURLToPath(new URL("../support/bwrap/fails", import.meta.url));
const withoutSandbox = { PATH: `${failingSandbox}:${process.env["PATH"]}` };

async function open(cli: Cli, args: readonly string[], options: TmuxOptions = {}): Promise<TmuxScreen> {
  return await TmuxScreen.open(cli, args, { ...options, env: withoutSandbox });
}

test("the prompt asks, runs the command after yes, shows its output, and returns to the prompt", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await open(cli, ["--plain"], { columns: 120 });
  await screen.prompts();
  await screen.enter("run printf 'a\\033[31mb\\n'; seq 30");
  await screen.shows(questionFor("sh -c 'printf '\\''a\\033[31mb\\n'\\''; seq 30'", { isWider: false }));
  await screen.enter("y");
  await screen.shows("  a␛[31mb\n  1\n");
  await screen.shows("  9\n  … 16 more lines\n  26\n");
  await screen.prompts();
  await screen.press("C-d");
  expect(await screen.ends()).toBe(0);
});

test("Ctrl-C at the question and during a command ends the turn and returns to the prompt", async () => {
  const screen = await open(await Cli.open({ spawned: true }), ["--plain"]);
  await screen.prompts();
  await screen.enter("run sleep 600");
  await screen.shows(questionFor("sh -c 'sleep 600'", { isForProject: true }));
  await screen.press("C-c");
  await screen.shows("y/a/p/n/s > \nInterrupted.\n>");
  await screen.enter("run echo begun; sleep 600");
  await screen.shows(questionFor("sh -c 'echo begun; sleep 600'"));
  await screen.enter("y");
  await screen.shows("  begun\n");
  await screen.press("C-c");
  await screen.shows("  exit code 130\nInterrupted.\n>");
  await screen.press("C-d");
  expect(await screen.ends()).toBe(0);
});

test("Ctrl-D at the question repeats it once, then counts as no", async () => {
  const screen = await open(await Cli.open({ spawned: true }), ["--plain"]);
  await screen.prompts();
  await screen.enter("run echo hi");
  await screen.shows(questionFor("sh -c 'echo hi'"));
  await screen.press("C-d");
  await screen.shows(repeatedQuestion);
  await screen.press("C-d");
  await screen.shows(repeatedQuestion + repeatedQuestion);
  await screen.press("C-d");
  await screen.shows("Treated as no.\nThe tool answered:\nshell was refused by the user\n>");
  await screen.press("C-d");
  expect(await screen.ends()).toBe(0);
});

test("chat asks on the terminal while its answer goes to a file, and ignores input typed before the question", async () => {
  const cli = await Cli.open({ spawned: true });
  const screen = await open(cli, ["chat", "run echo hi"], { stdoutTo: "answer.txt" });
  await screen.enter("y");
  await screen.type("y");
  await screen.shows(questionFor("sh -c 'echo hi'", { mark: "›" }));
  await screen.enter("n");
  expect(await screen.ends()).toBe(0);
  expect(await readFile(join(cli.project, "answer.txt"), "utf8")).toBe(
    "The tool answered:\nshell was refused by the user\n",
  );
});

test("after kill -9 at the question --continue asks it again and continues the turn", async () => {
  const cli = await Cli.open({ spawned: true });
  const killed = await open(cli, ["--plain"]);
  await killed.prompts();
  await killed.enter("run echo survived");
  await killed.shows(questionFor("sh -c 'echo survived'"));
  await killed.kill();
  expect(await killed.ends()).toBe(137);
  const screen = await open(cli, ["--plain", "--continue"]);
  await screen.shows(questionFor("sh -c 'echo survived'"));
  await screen.enter("y");
  await screen.shows("  survived\nThe tool answered:\n");
  await screen.prompts();
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["run echo survived"]);
});

interface QuestionForm {
  /** Only a plain command of an installed program is offered for the whole project. */
  readonly isForProject?: boolean;
  /** False for a line with escapes, which is allowed only exactly as it is. */
  readonly isWider?: boolean;
  readonly mark?: string;
}

function questionFor(command: string, form: QuestionForm = {}): string {
  const { isForProject = false, isWider = true, mark = ">" } = form;
  const wider = isWider ? "If you always allow it, it may also run with more arguments.\n" : "";
  const forProject = isForProject ? "[p] always allow it in this project  " : "";
  const choices = `[y] yes, once  [a] always allow this command in this conversation  ${forProject}[n] no, or n and what to do instead  [s] no, and stop the turn`;
  return `\n  ${command}\n\n${wider}Allow? ${choices}\n${isForProject ? "y/a/p/n/s" : "y/a/n/s"} ${mark} \n`;
}

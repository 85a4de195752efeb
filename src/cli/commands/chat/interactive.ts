import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { commandRows } from "../../conversations/project-commands.js";
import { readProjectCommands } from "../../../config/project/project-config.js";
import { setTrust } from "../../../config/project/trust.js";
import { type CommandContext, type ContextOf, printLine } from "../../context.js";
import { chooseByFlags } from "../../conversations/choose-conversation.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import { mayHaveScreen, ScreenContext } from "../../terminal/interactive/screen-output.js";
import { refusingApprover } from "../../terminal/approval.js";
import { watchSignals, type Interruption } from "../../terminal/interruption.js";
import { converse } from "../../terminal/prompt/converse.js";
import { CurrentConversation } from "../../terminal/prompt/current-conversation.js";
import { plainContext } from "../../terminal/prompt/plain-output.js";
import { Prompt } from "../../terminal/prompt/prompt.js";
import { isSlashCommand, slashCommand } from "../../terminal/prompt/slash-commands.js";
import { readLines, withPipedInput } from "../../terminal/read-input.js";
import { exitCodeOf } from "../../terminal/turn-player.js";
import { loadSettings } from "../../load-settings.js";
import { openWorkspace } from "../../workspace.js";

export async function interactiveCommand(given: ContextOf<"">): Promise<number> {
  const { stdin, stdout } = given.terminal;
  const isInteractive = stdin.isTTY === true && stdout.isTTY && !given.flags.json;
  if (isInteractive) await askTrust(given);
  const output = isInteractive && mayHaveScreen(given) ? new ScreenContext(given) : undefined;
  try {
    return await converseIn(output?.context ?? given, { isInteractive, output });
  } finally {
    await output?.close();
  }
}

interface PromptKind {
  readonly isInteractive: boolean;
  /** Absent where there can be no interactive screen. */
  readonly output: ScreenContext<ContextOf<"">> | undefined;
}

async function converseIn(given: ContextOf<"">, { isInteractive, output }: PromptKind): Promise<number> {
  const isPlain = isInteractive && !(await wantsScreen(given));
  const context = isPlain ? plainContext(given) : given;
  await using workspace = await openWorkspace(context, {
    source: isInteractive ? "interactive" : "non_interactive",
    control: "cli",
  });
  const activity = isInteractive ? "stdout" : "stderr";
  const choice = (await chooseByFlags(context, workspace)) ?? { type: "new" };
  const prompt = context.args.join(" ");
  if (output !== undefined && !isPlain) {
    const { runScreen } = await import("../../terminal/interactive/app.js");
    return await runScreen({ output, workspace, choice, first: prompt });
  }
  const current = await CurrentConversation.open({ context, workspace, activity }, choice);
  if (isInteractive) return await converse(context, current, { first: prompt, isPlain });
  using interruption = watchSignals(context.terminal);
  const messages = await current.countMessages();
  if (messages > 0) await context.tell(`Resumed conversation with ${counted(messages, "message")}`);
  const exitCode = await (prompt.trim() === ""
    ? answerLines(context, current, interruption)
    : answerPrompt(context, current, interruption, prompt));
  return interruption.exitCode ?? exitCode;
}

/** False for the plain prompt, by `--plain` or the configuration. */
async function wantsScreen(context: ContextOf<"">): Promise<boolean> {
  return effectiveSetting((await loadSettings(context)).values, "terminal.screen");
}

/**
 * Asks once whether to trust a project that has its own configuration, and again when the commands in it have changed;
 * stores the answer. None of that configuration has been applied before.
 */
async function askTrust(context: CommandContext): Promise<void> {
  const { home } = context;
  const { realRoot } = await context.projectRoots();
  const { digest = "", settings, trust, isChanged, root, ...commands } = await readProjectCommands(home, realRoot);
  const named = commandRows(commands);
  if (isChanged) return await askAgain(context, root, { rows: named, digest });
  if (trust !== undefined || named.length + settings.length === 0) return;
  const rows = [
    ...named,
    ...(settings.length === 0 ? [] : [`  settings: ${settings.map(visible).join(", ")}`]),
    "In a trusted project, models may also save knowledge without approval.",
  ];
  await printLine(context, [`The project ${visible(root)} has its own configuration:`, ...rows].join("\n"));
  const answer = await ask(context, "Trust this project and apply these settings? [y/n] › ");
  if (isYes(answer)) await setTrust(home, root, "trusted", digest);
  else if (answer === "n" || answer === "no") await setTrust(home, root, "untrusted");
  else await printLine(context, "Project config ignored. To trust it later: cody trust");
}

/** Without agreement, the other settings of the project still apply. */
async function askAgain(
  context: CommandContext,
  root: string,
  { rows, digest }: { readonly rows: readonly string[]; readonly digest: string },
): Promise<void> {
  const what = `The commands of the project ${visible(root)} are not those that you have trusted:`;
  await printLine(context, [what, ...rows].join("\n"));
  const answer = await ask(context, "Trust these commands and run them? [y/n] › ");
  if (isYes(answer)) await setTrust(context.home, root, "trusted", digest);
  else await printLine(context, "They are not run. To trust them later: cody trust");
}

function isYes(answer: string | undefined): boolean {
  return answer === "y" || answer === "yes";
}

async function ask(context: CommandContext, question: string): Promise<string | undefined> {
  const { stdin, stdout } = context.terminal;
  using interruption = watchSignals(context.terminal);
  const prompt = await Prompt.open(stdin, stdout.stream, {
    line: () => undefined,
    interrupt: () => interruption.interrupt(),
    end: () => undefined,
  });
  try {
    return (await prompt.ask(question, interruption.signal))?.trim().toLowerCase();
  } finally {
    prompt.close();
  }
}

/** Answers the prompt of the arguments, with the piped input appended. */
async function answerPrompt(
  context: CommandContext,
  current: CurrentConversation,
  { signal }: Interruption,
  prompt: string,
): Promise<number> {
  const options = { signal, approve: refusingApprover(context) };
  const before = await current.begin(options);
  const text = await withPipedInput(context, prompt, signal);
  const items = [{ type: "text" as const, text }];
  const outside = text === prompt ? {} : { outside_content: true };
  return exitCodeOf(before, await (await current.player()).play({ type: "user_input", items, ...outside }, options));
}

/**
 * Answers every line of the input in order. A line that is not one of our commands is a message, whatever it begins
 * with; so no line can answer an approval question.
 */
async function answerLines(
  context: CommandContext,
  current: CurrentConversation,
  { signal }: Interruption,
): Promise<number> {
  const { stdin, stdout } = context.terminal;
  const options = { signal, approve: refusingApprover(context) };
  const outcomes = new Set([await current.begin(options)]);
  for await (const line of readLines(stdin, signal)) {
    if (line.trim() === "") continue;
    const command = isSlashCommand(line) ? slashCommand(line) : undefined;
    if (command !== undefined) {
      if ((await command({ context, current, signal })) === "leave") break;
      continue;
    }
    outcomes.add(await (await current.player()).play(line, options));
    // Nobody would read the remaining answers.
    if (signal.aborted || stdout.closed) break;
  }
  return exitCodeOf(...outcomes);
}

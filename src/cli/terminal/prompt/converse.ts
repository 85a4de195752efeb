import { counted } from "../../../base/text/counted.js";
import type { Op } from "../../../messages/submission.js";
import { version } from "../../../version.js";
import { exitCodes } from "../../command-error.js";
import { type CommandContext, printLine } from "../../context.js";
import { describeError } from "../../describe-error.js";
import { type Approver, askForApproval, approvalPrompt } from "../approval.js";
import { watchSignals } from "../interruption.js";
import type { PlayOptions } from "../turn-player.js";
import type { CurrentConversation } from "./current-conversation.js";
import { plainMark, plainText } from "./plain-output.js";
import { Prompt, promptMark } from "./prompt.js";
import { isPromptCommand, promptText } from "./server-prompts.js";
import { isSlashCommand, slashCommand, unknownCommandText } from "./slash-commands.js";

const hint = "Press Ctrl-C again to exit, or type /exit.";

interface ConverseOptions {
  /** Sent at once. */
  readonly first: string;
  /** Words stand for symbols. */
  readonly isPlain: boolean;
}

/** Runs the prompt line by line until the user leaves; resolves with the exit code. */
export async function converse(
  context: CommandContext,
  current: CurrentConversation,
  { first, isPlain }: ConverseOptions,
): Promise<number> {
  const { stdin, stdout } = context.terminal;
  const lines = new TypedLines();
  let turn: AbortController | undefined;
  let askedOnce = false;

  const mark = isPlain ? plainMark : promptMark;
  const listener = {
    line: (text: string) => lines.push(text),
    interrupt: () => interrupt(),
    end: () => lines.end(0),
  };
  const prompt = await Prompt.open(stdin, stdout.stream, listener, mark);
  // A dumb terminal would print the escape sequence as text.
  if (context.terminal.env["TERM"] !== "dumb") prompt.markPastes();
  function interrupt(): void {
    if (turn?.signal.aborted === true) {
      // Restores the terminal, which outlives this process.
      prompt.close();
      return context.terminal.exit(exitCodes.interrupted);
    }
    if (turn !== undefined) return turn.abort();
    if (askedOnce && prompt.isEmpty) return lines.end(exitCodes.interrupted);
    askedOnce = prompt.isEmpty;
    prompt.clear();
    void stdout.write(askedOnce ? `\n${hint}\n` : "\n").then(() => prompt.show());
    return undefined;
  }

  using interruption = watchSignals(context.terminal, interrupt);
  const ending = interruption.signal;
  const ask = (question: string, signal: AbortSignal) => prompt.ask(isPlain ? plainText(question) : question, signal);
  const approve: Approver = (request, signal) => askForApproval(request, approvalPrompt({ ask }, stdout), signal);

  /** Runs work that Ctrl-C interrupts. */
  async function stoppable<T>(work: (options: PlayOptions) => Promise<T>): Promise<T> {
    turn = new AbortController();
    try {
      return await work({ signal: AbortSignal.any([turn.signal, ending]), approve });
    } finally {
      turn = undefined;
    }
  }

  ending.addEventListener("abort", () => lines.end(interruption.exitCode ?? 0));
  try {
    await greet(context, current);
    await stoppable((options) => tried(context, async () => void (await current.begin(options))));
    if (first.trim() !== "") lines.push(first);
    for (;;) {
      const { isAwaited } = lines;
      if (isAwaited) prompt.show();
      const next = await lines.next();
      prompt.hide();
      if (next.type === "end") {
        // Ends our prompt's line, so that the shell's prompt starts on its own.
        if (isAwaited) await printLine(context, "");
        return next.exitCode;
      }
      askedOnce = false;
      if (next.waited) await printLine(context, `› ${next.text}`);
      const outcome = await stoppable((options) => answer(context, current, next.text, options, ask));
      if (outcome === "leave") return 0;
    }
  } finally {
    prompt.close();
  }
}

async function greet(context: CommandContext, current: CurrentConversation): Promise<void> {
  const { provider, model } = current.labels;
  await printLine(context, `cody ${version}, ${provider} (${model}), ${current.id}`);
  const messages = await current.countMessages();
  if (messages > 0) await printLine(context, `Resumed conversation with ${counted(messages, "message")}`);
  await printLine(context, "Type /help for commands.");
}

async function answer(
  context: CommandContext,
  current: CurrentConversation,
  line: string,
  options: PlayOptions,
  ask: Prompt["ask"],
): Promise<"stay" | "leave"> {
  const text = line.trim();
  if (text === "") return "stay";
  const done = await tried(context, async () => {
    if (isPromptCommand(text) || !isSlashCommand(text)) {
      const input = isPromptCommand(text) ? promptInput(await promptText(current, text, options.signal)) : line;
      await (await current.player()).play(input, options);
      return "stay";
    }
    const command = slashCommand(text);
    const askInTurn = (question: string) => ask(question, options.signal);
    if (command !== undefined) return await command({ context, current, signal: options.signal, ask: askInTurn });
    await context.tell(unknownCommandText(text));
    return "stay";
  });
  return done ?? "stay";
}

/** The text of a server's prompt was not written by the user. */
function promptInput(text: string): Op {
  return { type: "user_input", items: [{ type: "text", text }], outside_content: true };
}

/** Reports an error and continues, so that the user can try again. */
async function tried<T>(context: CommandContext, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const { lines } = describeError(error);
    context.log("error", lines.join(" "), { stack: error instanceof Error ? error.stack : undefined });
    await context.tell(lines.join("\n"));
    return undefined;
  }
}

/** `waited`: typed while something else was running, so it has to be shown again. */
type TypedLine =
  | { readonly type: "line"; readonly text: string; readonly waited: boolean }
  | { readonly type: "end"; readonly exitCode: number };

/** Lines that were typed and not answered yet. */
class TypedLines {
  readonly #lines: string[] = [];
  #exitCode: number | undefined;
  #onNext: ((line: TypedLine) => void) | undefined;

  /** True if there is no line in the queue and more may be typed. */
  get isAwaited(): boolean {
    return this.#lines.length === 0 && this.#exitCode === undefined;
  }

  push(text: string): void {
    if (this.#onNext === undefined) this.#lines.push(text);
    else this.#deliver({ type: "line", text, waited: false });
  }

  /** Lines typed before the end are answered first, unless the end is an interruption. */
  end(exitCode: number): void {
    if (this.#exitCode === undefined || exitCode !== 0) this.#exitCode = exitCode;
    if (this.#exitCode !== 0) this.#lines.length = 0;
    this.#deliver({ type: "end", exitCode: this.#exitCode });
  }

  next(): Promise<TypedLine> {
    const text = this.#lines.shift();
    if (text !== undefined) return Promise.resolve({ type: "line", text, waited: true });
    if (this.#exitCode !== undefined) return Promise.resolve({ type: "end", exitCode: this.#exitCode });
    return new Promise((resolve) => {
      this.#onNext = resolve;
    });
  }

  #deliver(line: TypedLine): void {
    const resolve = this.#onNext;
    this.#onNext = undefined;
    resolve?.(line);
  }
}

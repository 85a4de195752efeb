import type { EventMsg } from "../../messages/event.js";
import type { CommandContext } from "../context.js";
import { compactedText, tokenText } from "../token-text.js";

type MsgOf<T extends EventMsg["type"]> = Extract<EventMsg, { type: T }>;

const unknownColumns = 80;

/** Tells of a compaction while it goes on. On a terminal the line that says so makes room for what comes next. */
export class CompactionProgress {
  readonly #context: CommandContext;
  #isOpen = false;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  async begin({ estimated_tokens }: MsgOf<"compaction_start">): Promise<void> {
    const { stderr } = this.#context.terminal;
    const line = `Compacting context (${tokenText(estimated_tokens)} tokens)...`;
    await this.#context.tell("Compacting conversation history...");
    // What does not fit in one row cannot be taken back.
    this.#isOpen = stderr.isTTY && line.length < (stderr.stream.columns || unknownColumns);
    await (this.#isOpen ? stderr.write(line) : this.#context.tell(line));
  }

  /** Why nothing was compacted is told by a warning. */
  async end({ outcome, tokens_before, tokens_after }: MsgOf<"compaction_end">): Promise<void> {
    await this.clear();
    if (outcome === "compacted") await this.#context.tell(compactedText(tokens_before, tokens_after));
  }

  /** Before anything else is written. */
  async clear(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#context.terminal.stderr.eraseLine();
  }
}

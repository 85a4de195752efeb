import type { EventMsg } from "../../messages/event.js";
import type { StatusLine } from "./activity/status-line.js";
import type { CommandContext } from "../context.js";
import { compactedText, tokenText } from "../format/token-text.js";

type MsgOf<T extends EventMsg["type"]> = Extract<EventMsg, { type: T }>;

/** Shows that a compaction is running: an animated line on a terminal, otherwise one line on stderr. */
export class CompactionProgress {
  readonly #context: CommandContext;
  readonly #status: StatusLine;
  #isPreparing = false;

  constructor(context: CommandContext, status: StatusLine) {
    this.#context = context;
    this.#status = status;
  }

  /** Reports a background summary. If it has to be made again, the line is not repeated. */
  async prepare({ estimated_tokens }: MsgOf<"compaction_prepare">): Promise<void> {
    if (this.#isPreparing) return;
    this.#isPreparing = true;
    await this.#context.tell(
      `Preparing to compact context in the background (${tokenText(estimated_tokens)} tokens)...`,
    );
  }

  async begin({ estimated_tokens }: MsgOf<"compaction_start">): Promise<void> {
    const tokens = `(${tokenText(estimated_tokens)} tokens)`;
    const isShown = await this.#status.show(() => `Compacting context ${tokens}...`);
    if (!isShown) await this.#context.tell(`Compacting conversation history... ${tokens}`);
  }

  /** A warning event reports why nothing was compacted. */
  async end({ outcome, tokens_before, tokens_after }: MsgOf<"compaction_end">): Promise<void> {
    this.#isPreparing = false;
    await this.clear();
    if (outcome === "compacted") await this.#context.tell(compactedText(tokens_before, tokens_after));
  }

  /** Call before anything else is written. */
  async clear(): Promise<void> {
    await this.#status.clear();
  }
}

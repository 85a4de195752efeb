import type { InlineInput } from "../../../messages/user-input.js";
import { GrowingText } from "../../../base/text/growing-text.js";
import type { RunnableCallItem } from "../calls/open-calls.js";

/** The current status of a turn. */
export type TurnStatus =
  | { readonly status: "processing" }
  | { readonly status: "awaiting_approval"; readonly toolCall: RunnableCallItem }
  | { readonly status: "awaiting_tool_result"; readonly callId: string }
  | { readonly status: "completed" }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "cancelled" };

export const hasEnded = {
  processing: false,
  awaiting_approval: false,
  awaiting_tool_result: false,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<TurnStatus["status"], boolean>;

/** The running turn, or the last one, with the data that is not in the rollout because it is unfinished. */
export class ActiveTurn {
  readonly turnId: string;
  readonly submissionId: string;
  readonly startedAt: Date;
  readonly input: readonly InlineInput[];
  readonly toolCalls: RunnableCallItem[] = [];
  status: TurnStatus = { status: "processing" };
  /**
   * The source of the first content that the user did not write and that is not from the project: a tool, the web, or
   * the message.
   */
  outsideSource: string | undefined;
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();
  /** Length of the text that belongs to finished messages. */
  #finishedLength = 0;
  #openItemId = "";

  constructor(turnId: string, submissionId: string, startedAt: Date, input: readonly InlineInput[]) {
    this.turnId = turnId;
    this.submissionId = submissionId;
    this.startedAt = startedAt;
    this.input = input;
  }

  noteOutside(source: string): void {
    this.outsideSource ??= source;
  }

  /** The answer so far. */
  get text(): string {
    return this.#text.toString();
  }

  get reasoning(): string {
    return this.#reasoning.toString();
  }

  /** The text of the unfinished message. */
  get openMessage(): { readonly itemId: string; readonly text: string } {
    return { itemId: this.#openItemId, text: this.text.slice(this.#finishedLength) };
  }

  addText(itemId: string, delta: string): void {
    this.#openItemId = itemId;
    this.#text.add(delta);
  }

  finishMessage(): void {
    this.#finishedLength = this.#text.length;
  }

  addReasoning(delta: string): void {
    this.#reasoning.add(delta);
  }
}

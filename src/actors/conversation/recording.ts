import type { EventMsg } from "../../messages/event.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { ActiveTurn } from "./active-turn.js";
import { openCalls, outputsFor } from "./open-calls.js";
import { apply, type ConversationState } from "./state.js";

/** A line before it has its time. */
export type NewLine = OwnLine extends infer L ? (L extends OwnLine ? Omit<L, "timestamp"> : never) : never;

type EndMsg = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

export type Publish = (msg: EventMsg, submissionId: string) => void;

/** The way of a durable line: applied, placed in the outbox, then published. */
export class Recording {
  readonly #state: ConversationState;
  readonly #rollout: Rollout;
  readonly #now: () => Date;
  readonly #publish: Publish;
  #closed = false;

  constructor(state: ConversationState, rollout: Rollout, now: () => Date, publish: Publish) {
    this.#state = state;
    this.#rollout = rollout;
    this.#now = now;
    this.#publish = publish;
  }

  /** Ends with its incarnation: a turn that is still winding down must not write beside the next one. */
  close(): void {
    this.#closed = true;
  }

  line(line: NewLine, submissionId: string): void {
    if (this.#closed) return;
    const dated = this.#write(line);
    if (dated.type === "event_msg" && dated.payload.type !== "(unknown)") this.#publish(dated.payload, submissionId);
    if (dated.type === "response_item") {
      this.#publish({ type: "raw_response_item", item: dated.payload }, submissionId);
    }
  }

  /** The line that ends a turn is written first, and published when the writer has answered for the whole turn. */
  async end(msg: EndMsg, submissionId: string): Promise<void> {
    if (this.#closed) return;
    this.#write({ type: "event_msg", payload: msg });
    const outcome = await this.#rollout.flush();
    if (outcome.status === "not_saved") {
      this.#publish({ type: "warning", message: `Failed to save turn: ${outcome.reason}` }, submissionId);
    }
    this.#publish(outcome.status === "off" ? msg : { ...msg, saved: outcome.status === "saved" }, submissionId);
  }

  /** Leaves no call without an output: the next request would be refused. */
  closeCalls(output: string, submissionId: string): void {
    for (const payload of outputsFor(openCalls(this.#state.history), output)) {
      this.line({ type: "response_item", payload }, submissionId);
    }
  }

  /** Tells the model why a turn has no answer. */
  noteAbort(submissionId: string): void {
    const content = [{ type: "input_text" as const, text: abortedNote }];
    this.line({ type: "response_item", payload: { type: "message", role: "user", content } }, submissionId);
  }

  /** Ends what a crash left open, of the process or of the incarnation before. */
  closeOpenTurn(turn: ActiveTurn | undefined): void {
    const open = this.#state.openTurn;
    const id = open === undefined ? "" : (turn?.submissionId ?? "");
    this.closeCalls("interrupted, result unknown", id);
    if (open === undefined) return;
    if (turn !== undefined) turn.status = { status: "cancelled" };
    this.noteAbort(id);
    this.line({ type: "event_msg", payload: { type: "turn_aborted", turn_id: open.id, reason: "interrupted" } }, id);
  }

  #write(line: NewLine): OwnLine {
    const dated: OwnLine = { timestamp: this.#now().toISOString(), ...line };
    apply(this.#state, dated);
    this.#rollout.append(dated);
    return dated;
  }
}

/** Codex's marker: a user message that is not the user speaking. */
const abortedNote =
  "<turn_aborted>\nThe previous turn was interrupted before it was finished. " +
  "Commands that were running may have had effects.\n</turn_aborted>";

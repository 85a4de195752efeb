import { interruptedOutput } from "../../../base/codex/interrupted-output.js";
import { shortened } from "../../../base/text/truncate.js";
import { isApproval, type ReviewDecision } from "../../../messages/tools/approval.js";
import type { ConversationMsg, MirrorChange } from "../../../messages/actors/conversation.js";
import type { EventMsg } from "../../../messages/event.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { onlyExtends } from "../../../rollouts/file/history.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { ActiveTurn } from "../state/live-state.js";
import {
  type RunnableCallItem,
  changedArgumentsText,
  isUndecided,
  openCalls,
  callOutputs,
} from "../calls/call-items.js";
import { apply, type ConversationState } from "../state/state.js";

const maxCallChars = 200;

/** Codex's marker for a user message that was not written by the user. */
const abortedNote =
  "<turn_aborted>\nThe previous turn was interrupted before it was finished. " +
  "Commands that were running may have had effects.\n</turn_aborted>";

/** A line without its timestamp. */
export type NewLine = OwnLine extends infer L ? (L extends OwnLine ? Omit<L, "timestamp"> : never) : never;

/** The state that lines change, and the number of times that its history was replaced. */
interface RecordedCell {
  readonly state: ConversationState;
  generation: number;
}

type EndMsg = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

export type Publish = (msg: ConversationMsg, submissionId: string) => void;

/** Records durable lines: each is applied, appended to the rollout, then published. */
export class Recording {
  readonly #cell: RecordedCell;
  readonly #rollout: Rollout;
  readonly #now: () => Date;
  readonly #publish: Publish;
  #closed = false;

  constructor(cell: RecordedCell, rollout: Rollout, now: () => Date, publish: Publish) {
    this.#cell = cell;
    this.#rollout = rollout;
    this.#now = now;
    this.#publish = publish;
  }

  /** Called when its incarnation ends: a turn that is still winding down must not write beside the next one. */
  close(): void {
    this.#closed = true;
  }

  line(line: NewLine, submissionId: string): void {
    if (this.#closed) return;
    const timestamped = this.#write(line);
    const change = mirrorChange(timestamped);
    if (change !== undefined) this.#publish({ type: "mirror", change }, submissionId);
    if (timestamped.type === "event_msg" && timestamped.payload.type !== "(unknown)")
      this.#publish(timestamped.payload, submissionId);
    if (timestamped.type === "response_item") {
      this.#publish({ type: "raw_response_item", item: timestamped.payload }, submissionId);
    }
  }

  /** Writes the line that ends a turn, and publishes it when the whole turn was flushed. */
  async end(msg: EndMsg, submissionId: string): Promise<void> {
    if (this.#closed) return;
    this.#write({ type: "event_msg", payload: msg });
    const outcome = await this.#rollout.flush();
    const count = this.#rollout.takeRedacted();
    if (count > 0) this.#publish({ type: "secrets_redacted", count }, submissionId);
    if (outcome.status === "not_saved") {
      this.#publish({ type: "warning", message: `Failed to save turn: ${outcome.reason}` }, submissionId);
    }
    this.#publish(outcome.status === "off" ? msg : { ...msg, saved: outcome.status === "saved" }, submissionId);
  }

  /** Adds an output to every open call: otherwise the next request would be rejected. */
  closeCalls(output: string, submissionId: string): void {
    for (const payload of callOutputs(openCalls(this.#state.history), output)) {
      this.line({ type: "response_item", payload }, submissionId);
    }
  }

  /** Records a note for the model why a turn has no answer. */
  noteAbort(submissionId: string): void {
    const content = [{ type: "input_text" as const, text: abortedNote }];
    this.line({ type: "response_item", payload: { type: "message", role: "user", content } }, submissionId);
  }

  /**
   * Closes the calls and the turn that a crash of the process or incarnation left open; a turn with left-over calls
   * continues.
   */
  closeOpenTurn(
    turn: ActiveTurn | undefined,
    leftOver: readonly RunnableCallItem[],
    submissionId = turn?.submissionId ?? "",
  ): void {
    const open = this.#state.openTurn;
    const id = open === undefined ? "" : submissionId;
    const remaining = new Set(leftOver);
    for (const call of openCalls(this.#state.history)) if (!remaining.has(call)) this.#closeInterrupted(call, id);
    if (open === undefined || leftOver.length > 0) return;
    if (turn !== undefined) turn.status = { status: "cancelled" };
    this.noteAbort(id);
    this.line({ type: "event_msg", payload: { type: "turn_aborted", turn_id: open.id, reason: "interrupted" } }, id);
  }

  /** Warns the user about a call that may have had an effect. It is never run again without approval. */
  #closeInterrupted(call: RunnableCallItem, submissionId: string): void {
    const approval = this.#state.approvals.get(call.call_id ?? "");
    const hasNotRun = isUndecided(approval) || isRefusal(approval?.decision);
    const changed = approval?.changedArguments;
    const note = changed === undefined ? "" : `[approval] ${changedArgumentsText(changed)}`;
    // If the process dies between these two writes, the warning is shown again on resume.
    if (!hasNotRun) {
      const message = `A call was interrupted and its result is unknown; it was not run again: ${callText(call)}`;
      this.#publish({ type: "warning", message: note === "" ? message : `${message}. ${note}` }, submissionId);
    }
    const interrupted = note === "" ? interruptedOutput : `${interruptedOutput}\n\n${note}`;
    for (const payload of callOutputs([call], hasNotRun ? "not run: it was not approved" : interrupted)) {
      this.line({ type: "response_item", payload }, submissionId);
    }
  }

  get #state(): ConversationState {
    return this.#cell.state;
  }

  #write(line: NewLine): OwnLine {
    const timestamped: OwnLine = { timestamp: this.#now().toISOString(), ...line };
    apply(this.#state, timestamped);
    if (!onlyExtends(timestamped)) this.#cell.generation += 1;
    this.#rollout.append(timestamped);
    return timestamped;
  }
}

/** The change of the handle's mirror that no event reports. */
function mirrorChange(line: OwnLine): MirrorChange | undefined {
  if (line.type !== "cody") return undefined;
  const { payload } = line;
  switch (payload.type) {
    case "named":
      return { type: "named", name: payload.name };
    case "pinned":
      return { type: "pinned", pinned: payload.pinned };
    case "approval_requested":
    case "approval_decided":
      return { type: payload.type, callId: payload.call_id };
    case "approval_answered":
      return { type: "approval_decided", callId: payload.call_id };
    default:
      return undefined;
  }
}

function callText(call: RunnableCallItem): string {
  const text = call.type === "local_shell_call" ? "local_shell" : `${call.name} ${argumentsText(call)}`;
  return shortened(text, maxCallChars);
}

function argumentsText(call: Exclude<RunnableCallItem, { type: "local_shell_call" }>): string {
  return call.type === "function_call" ? call.arguments : call.input;
}

function isRefusal(decision: ReviewDecision | undefined): boolean {
  return decision !== undefined && !isApproval(decision);
}

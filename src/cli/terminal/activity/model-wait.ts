import type { EventMsg } from "../../../messages/event.js";
import type { StatusLine } from "./status-line.js";

/** The delay before the line is shown: a shorter silence needs no explanation. */
const patienceMs = 500;
/** The line shows the elapsed time from this many seconds on. */
const countFromSeconds = 2;

/** Events that print nothing, so that the line may stay. */
const silent: ReadonlySet<EventMsg["type"]> = new Set([
  "token_count",
  "agent_reasoning",
  "agent_reasoning_delta",
  "tool_call_start",
  "tool_call_delta",
  "tool_call_end",
  "user_message",
  "mcp_startup_complete",
]);

/** Shows that a turn waits for the model: no part of an answer has arrived yet, and no tool is running. */
export class ModelWait {
  readonly #status: StatusLine;
  readonly #now: () => number;
  readonly #runningCalls = new Set<string>();
  #isTurn = false;
  #isStreaming = false;
  #isCompacting = false;
  #isThinking = false;
  #since = 0;

  constructor(status: StatusLine, now: () => number) {
    this.#status = status;
    this.#now = now;
  }

  /** Call before an event is shown. */
  async before({ type }: EventMsg): Promise<void> {
    if (!silent.has(type)) await this.#status.clear();
  }

  /** Call after an event has been shown. */
  async after(msg: EventMsg): Promise<void> {
    const wasWaiting = this.#isWaiting;
    this.#note(msg);
    if (!this.#isWaiting || silent.has(msg.type)) return;
    if (!wasWaiting) this.#since = this.#now();
    await this.#status.show(() => this.#text(), patienceMs);
  }

  get #isWaiting(): boolean {
    return this.#isTurn && !this.#isStreaming && !this.#isCompacting && this.#runningCalls.size === 0;
  }

  #text(): string {
    const seconds = Math.floor((this.#now() - this.#since) / 1_000);
    const elapsed = seconds < countFromSeconds ? "" : ` ${seconds}s`;
    return `${this.#isThinking ? "Thinking" : "Waiting for the model"}...${elapsed}`;
  }

  #note(msg: EventMsg): void {
    if (msg.type !== "agent_reasoning_delta" && !silent.has(msg.type)) this.#isThinking = false;
    switch (msg.type) {
      case "task_started":
        this.#isTurn = true;
        this.#isStreaming = false;
        this.#runningCalls.clear();
        break;
      case "task_complete":
      case "turn_aborted":
        this.#isTurn = false;
        break;
      case "agent_reasoning_delta":
        this.#isThinking = true;
        break;
      case "agent_message":
      case "agent_message_delta":
        this.#isStreaming = true;
        break;
      // After `agent_message` the turn ends, unless a call follows.
      case "stream_error":
        this.#isStreaming = false;
        break;
      case "compaction_start":
        this.#isStreaming = false;
        this.#isCompacting = true;
        break;
      case "compaction_end":
        this.#isCompacting = false;
        break;
      // A turn that waited for an approval since a crash has no `task_started` in this process.
      case "exec_approval_request":
      case "apply_patch_approval_request":
        this.#isTurn = true;
        this.#runningCalls.add(msg.call_id);
        break;
      case "raw_response_item":
        this.#noteItem(msg.item);
        break;
      default:
        break;
    }
  }

  #noteItem(item: unknown): void {
    const { type, call_id } = item as { readonly type?: unknown; readonly call_id?: unknown };
    if (typeof type !== "string" || typeof call_id !== "string") return;
    this.#isStreaming = false;
    if (type.endsWith("_output")) this.#runningCalls.delete(call_id);
    else this.#runningCalls.add(call_id);
  }
}

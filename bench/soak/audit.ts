import type { Event, EventMsg } from "../../src/messages/event.js";
import { type Check, find, type Findings } from "./checks.js";
import { add, type Counts } from "./load.js";
import { lettersPerDelta } from "./soak-script.js";

/** The totals over all conversations. */
export interface Tally {
  deltas: number;
  readonly ends: Counts;
  readonly retries: Counts;
  readonly findings: Findings;
}

type End = Extract<EventMsg, { type: "task_complete" | "turn_aborted" }>;

/** Checks every event of one conversation. */
export class EventAudit {
  readonly #tally: Tally;
  readonly #started = new Set<string>();
  /** The number of ends of each submission. */
  readonly #ended = new Map<string, number>();
  #lastSeq = -1;
  #letters = 0;
  #awaited: { readonly id: string; readonly resolve: () => void } | undefined;
  /** Whether an event arrived since the watchdog last cleared this. */
  sawEvent = false;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  see({ id, seq, msg }: Event): void {
    this.sawEvent = true;
    this.#number(seq, msg);
    switch (msg.type) {
      case "agent_message_delta":
        this.#letters += msg.delta.length;
        this.#tally.deltas += msg.delta.length / lettersPerDelta;
        break;
      case "task_started":
        this.#started.add(id);
        this.#letters = 0;
        break;
      case "stream_error":
        add(this.#tally.retries, codeOf(msg));
        break;
      case "error":
        if (msg.codex_error_info === "internal") this.#find("internal errors and warnings", msg.message);
        if (!this.#started.has(id)) this.#refused(id, msg.message);
        break;
      case "warning":
        this.#find("internal errors and warnings", msg.message);
        break;
      case "task_complete":
      case "turn_aborted":
        this.#end(id, msg);
        break;
      default:
    }
  }

  /** Resolves when a submission has ended for the first time. */
  ended(id: string): Promise<void> {
    if (this.#ended.has(id)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#awaited = { id, resolve };
    });
  }

  /** Stops waiting for a turn that does not end. */
  giveUp(): void {
    this.#awaited?.resolve();
  }

  /** Reports turns that did not end exactly once, after the last event. */
  close(submitted: readonly string[]): void {
    for (const id of submitted) {
      const times = this.#ended.get(id) ?? 0;
      if (times !== 1) this.#find("turns that did not end exactly once", `a turn with ${times} ends`);
      this.#ended.delete(id);
    }
    for (const [id, times] of this.#ended) {
      this.#find("turns that did not end exactly once", `${times} ends of a turn ${id} nobody submitted`);
    }
  }

  /** Checks the sequence: a merged delta has the number of its newest part, any other event the next number. */
  #number(seq: number, msg: EventMsg): void {
    const step = seq - this.#lastSeq;
    // Deltas that the server sent in one chunk may share one number.
    const most = msg.type === "agent_message_delta" ? msg.delta.length / lettersPerDelta : 1;
    if (msg.type === "lagged") this.#find("readers that lagged", `lagged by ${msg.to - msg.from + 1}`);
    else if (step < 1 || step > most) this.#find("gaps and doubles in the numbers", `${msg.type}: a step of ${step}`);
    this.#lastSeq = seq;
  }

  #end(id: string, msg: End): void {
    add(this.#tally.ends, endOf(msg));
    if (msg.saved !== true) this.#find("turns that were not saved", msg.type);
    if (msg.type === "task_complete" && !hasFailed(msg) && msg.last_agent_message?.length !== this.#letters) {
      const lengths = `${this.#letters} letters in the deltas of ${msg.last_agent_message?.length}`;
      this.#find("messages other than their deltas", lengths);
    }
    this.#note(id);
  }

  #refused(id: string, message: string): void {
    this.#find("submissions that were refused", message);
    this.#note(id);
  }

  #note(id: string): void {
    this.#ended.set(id, (this.#ended.get(id) ?? 0) + 1);
    if (this.#awaited?.id === id) this.#awaited.resolve();
  }

  #find(check: Check, detail: string): void {
    find(this.#tally.findings, check, detail);
  }
}

function endOf(msg: End): string {
  if (msg.type === "turn_aborted") return msg.reason;
  return hasFailed(msg) ? `failed: ${codeOf(msg.error ?? {})}` : "completed";
}

function hasFailed(msg: Extract<End, { type: "task_complete" }>): boolean {
  return msg.error !== undefined && msg.error !== null;
}

function codeOf({ codex_error_info: code }: { readonly codex_error_info?: unknown }): string {
  return typeof code === "string" ? code : JSON.stringify(code);
}

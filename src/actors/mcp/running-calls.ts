import type { CallDeadline } from "./call-deadline.js";
import type { ElicitationRequest, ElicitationAnswer } from "./elicitation.js";

/** A server's question during a call, with the id for its answer. */
export interface PendingElicitation extends ElicitationRequest {
  readonly id: number;
  readonly callId: string;
}

interface RunningCall {
  readonly deadline: CallDeadline;
  elicitations: number;
}

/** A server that asks more often than this during one call is cut off. */
const maxElicitations = 10;

/** The calls running on a server, and its questions during them. */
export class RunningCalls {
  readonly #ask: (asked: PendingElicitation) => void;
  readonly #calls = new Map<string, RunningCall>();
  readonly #elicitations = new Map<number, (answer: ElicitationAnswer) => void>();
  #elicitationCount = 0;

  constructor(ask: (asked: PendingElicitation) => void) {
    this.#ask = ask;
  }

  begin(callId: string, deadline: CallDeadline): void {
    this.#calls.set(callId, { deadline, elicitations: 0 });
  }

  end(callId: string): void {
    this.#calls.delete(callId);
  }

  /** Asks only when exactly one call is running: otherwise the wrong conversation might be asked. */
  async elicit({ message, schema }: ElicitationRequest): Promise<ElicitationAnswer> {
    const [only, ...others] = this.#calls;
    if (only === undefined || others.length > 0) return { action: "decline" };
    const [callId, call] = only;
    call.elicitations += 1;
    if (call.elicitations > maxElicitations) return { action: "cancel" };
    const id = (this.#elicitationCount += 1);
    const answer = new Promise<ElicitationAnswer>((resolve) => {
      this.#elicitations.set(id, resolve);
      call.deadline.signal.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
    });
    this.#ask({ id, callId, message, schema });
    using _ = call.deadline.paused();
    return await answer.finally(() => this.#elicitations.delete(id));
  }

  answer(id: number, answer: ElicitationAnswer): void {
    this.#elicitations.get(id)?.(answer);
  }
}

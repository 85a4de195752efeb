import type { CallDeadline } from "./call-deadline.js";
import type { Elicited, ElicitationAnswer } from "./elicitation.js";

/** What a server asks during a call, and under which number it is answered. */
export interface AskedElicitation extends Elicited {
  readonly id: number;
  readonly callId: string;
}

interface RunningCall {
  readonly deadline: CallDeadline;
  elicitations: number;
}

/** A server that is asked for more during one call is not asking in earnest. */
const maxElicitations = 10;

/** The calls that run on a server, and what it asks meanwhile. */
export class RunningCalls {
  readonly #ask: (asked: AskedElicitation) => void;
  readonly #calls = new Map<string, RunningCall>();
  readonly #elicitations = new Map<number, (answer: ElicitationAnswer) => void>();
  #elicitationCount = 0;

  constructor(ask: (asked: AskedElicitation) => void) {
    this.#ask = ask;
  }

  begin(callId: string, deadline: CallDeadline): void {
    this.#calls.set(callId, { deadline, elicitations: 0 });
  }

  end(callId: string): void {
    this.#calls.delete(callId);
  }

  /** Only when there is no doubt whose call it is about: another conversation must not be asked. */
  async elicit({ message, schema }: Elicited): Promise<ElicitationAnswer> {
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

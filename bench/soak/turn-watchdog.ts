import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { EventAudit } from "./audit.js";

const checkEveryMs = 1_000;
/** Checks without an event until a turn is interrupted; the library itself waits five minutes for a silent server. */
const interruptAfter = 10;
/** Checks without an event until a turn is given up. */
const giveUpAfter = 70;

interface Watched {
  readonly conversation: Conversation;
  readonly audit: EventAudit;
  silentChecks: number;
  interruptedAt: number | undefined;
}

/** Interrupts turns that emit no events any more, as a person would. */
export class TurnWatchdog implements Disposable {
  readonly #turns = new Set<Watched>();
  /** The milliseconds from each interrupt to the end of its turn. */
  readonly interruptMs: number[] = [];
  readonly #timer = setInterval(() => this.#check(), checkEveryMs);

  /** Watches a turn until it ends. */
  async over(conversation: Conversation, audit: EventAudit, turn: Promise<void>): Promise<void> {
    const watched: Watched = { conversation, audit, silentChecks: 0, interruptedAt: undefined };
    this.#turns.add(watched);
    await turn;
    this.#turns.delete(watched);
    if (watched.interruptedAt !== undefined) this.interruptMs.push(performance.now() - watched.interruptedAt);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    for (const turn of this.#turns) {
      turn.silentChecks = turn.audit.sawEvent ? 0 : turn.silentChecks + 1;
      turn.audit.sawEvent = false;
      if (turn.silentChecks === interruptAfter) {
        turn.interruptedAt = performance.now();
        void turn.conversation.interrupt();
      }
      if (turn.silentChecks === giveUpAfter) turn.audit.giveUp();
    }
  }
}

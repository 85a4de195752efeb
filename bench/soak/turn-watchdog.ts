import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { EventAudit } from "./audit.js";

const lookEveryMs = 1_000;
/** So many looks without an event, and the turn is interrupted: the library waits five minutes for a silent server. */
const interruptAfter = 10;
/** And after so many the turn is taken for lost. */
const giveUpAfter = 70;

interface Watched {
  readonly conversation: Conversation;
  readonly audit: EventAudit;
  silentLooks: number;
  interruptedAt: number | undefined;
}

/** Interrupts turns of which nothing is heard any more, as a person would. */
export class Watch implements Disposable {
  readonly #turns = new Set<Watched>();
  /** How long turns took to end when they were interrupted. */
  readonly interruptMs: number[] = [];
  readonly #timer = setInterval(() => this.#look(), lookEveryMs);

  /** Watches while a turn is played. */
  async over(conversation: Conversation, audit: EventAudit, turn: Promise<void>): Promise<void> {
    const watched: Watched = { conversation, audit, silentLooks: 0, interruptedAt: undefined };
    this.#turns.add(watched);
    await turn;
    this.#turns.delete(watched);
    if (watched.interruptedAt !== undefined) this.interruptMs.push(performance.now() - watched.interruptedAt);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const turn of this.#turns) {
      turn.silentLooks = turn.audit.heard ? 0 : turn.silentLooks + 1;
      turn.audit.heard = false;
      if (turn.silentLooks === interruptAfter) {
        turn.interruptedAt = performance.now();
        void turn.conversation.interrupt();
      }
      if (turn.silentLooks === giveUpAfter) turn.audit.giveUp();
    }
  }
}

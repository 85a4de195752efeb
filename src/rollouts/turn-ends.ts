import type { RolloutLine } from "../messages/rollout-line.js";
import { isRealUserMessage } from "../messages/user-message.js";

/** Where each turn of a conversation ends among its lines. A turn that was taken back gives its number to the next. */
export class TurnEnds {
  /** How many lines there are up to the end of each turn. */
  readonly #ends: number[] = [];
  #lines = 0;
  #isOpen = false;
  /** Old files have no line that begins a turn, there it begins with what the user says. */
  #isFramed = false;

  add(line: RolloutLine): void {
    if (line.type === "event_msg" && line.payload.type === "task_started") {
      this.#isFramed = true;
      this.#begin();
    } else if (!this.#isFramed && line.type === "response_item" && isRealUserMessage(line.payload)) this.#begin();
    this.#lines += 1;
    if (this.#isOpen) this.#ends[this.#ends.length - 1] = this.#lines;
    if (line.type !== "event_msg") return;
    if (line.payload.type === "task_complete" || line.payload.type === "turn_aborted") this.#isOpen = false;
    else if (line.payload.type === "thread_rolled_back") this.#takeBack(line.payload.num_turns);
  }

  get turns(): number {
    return this.#ends.length;
  }

  /** How many lines there are up to the end of a turn, which counts from 1; undefined when there is none. */
  endOf(turn: number): number | undefined {
    return this.#ends[turn - 1];
  }

  #begin(): void {
    this.#ends.push(this.#lines);
    this.#isOpen = true;
  }

  #takeBack(turns: number): void {
    this.#ends.length = Math.max(0, this.#ends.length - turns);
    this.#isOpen = false;
  }
}

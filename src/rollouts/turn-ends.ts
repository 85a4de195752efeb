import type { RolloutLine } from "../messages/rollout-line.js";
import { isRealUserMessage } from "../base/codex/context-message.js";

/** Tracks after which line each turn ends. The number of a rolled-back turn is used again for the next. */
export class TurnEnds {
  /** For each turn, the number of lines up to its end. */
  readonly #ends: number[] = [];
  #lines = 0;
  #isOpen = false;
  /** Whether the file has turn start events; in old files a turn begins with a user message. */
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

  /** Returns the number of lines up to the end of a turn, counted from 1; undefined if there is no such turn. */
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

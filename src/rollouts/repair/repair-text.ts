import { withoutMark } from "../file/line-object.js";
import type { FileLine } from "./repair-lines.js";
import type { RolloutScan } from "./repair-scan.js";
import type { Rescued, Verdict } from "./repair-verdict.js";

const newline = Buffer.from("\n");
const space = 0x20;
/** A blank line of any length would be too long for the reader as well. */
const maxBlankBytes = 64 * 1024;

/** The bytes of a repaired rollout, line by line, for who takes them before they are many. */
export class RepairedText {
  readonly #inPlace: boolean;
  readonly #hasNewFirst: boolean;
  #first: Buffer | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor({ inPlace, firstLine }: Pick<RolloutScan, "inPlace" | "firstLine">) {
    this.#inPlace = inPlace;
    this.#first = firstLine === undefined ? undefined : Buffer.from(firstLine);
    this.#hasNewFirst = firstLine !== undefined;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  take(): Buffer {
    this.#beginIfNeeded();
    const taken = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#bytes = 0;
    return taken;
  }

  add(line: FileLine, verdict: Verdict): void {
    if (line.number === 1 && verdict.status === "damaged" && this.#standsInPlaceOf(line, verdict.rescued)) return;
    this.#beginIfNeeded();
    if (verdict.status === "good") this.#keep(line);
    else if (this.#inPlace && line.terminated) this.#blank(line.length, verdict.rescued);
    else for (const { bytes } of verdict.rescued) this.#push(bytes, newline);
  }

  #beginIfNeeded(): void {
    if (this.#first !== undefined) this.#push(this.#first);
    this.#first = undefined;
  }

  /** A new first line that takes the room of the damaged one, so that nothing behind it moves. */
  #standsInPlaceOf({ length, terminated }: FileLine, rescued: readonly Rescued[]): boolean {
    const first = this.#first;
    if (first === undefined || !this.#inPlace || !terminated || rescued.length > 0) return false;
    const room = length + newline.length - first.length;
    // The made line is followed by a blank one, whose newline is the one of the damaged line.
    if (room < newline.length) return false;
    this.#beginIfNeeded();
    this.#blank(room - newline.length, []);
    return true;
  }

  #keep({ number, bytes = Buffer.of() }: FileLine): void {
    // A mark that does not begin the file any more would be damage itself.
    this.#push(number === 1 && this.#hasNewFirst ? withoutMark(bytes) : bytes, newline);
  }

  /** As many bytes as there were, newline included: each whole line where it was, and blanks around it. */
  #blank(length: number, rescued: readonly Rescued[]): void {
    let at = 0;
    for (const [index, { start, bytes }] of rescued.entries()) {
      this.#spaces(start - at);
      this.#push(bytes);
      at = start + bytes.length;
      const next = rescued[index + 1];
      if (next === undefined) continue;
      // The byte between the two was their newline; where there is none it was lost.
      this.#push(newline);
      if (next.start > at) at += newline.length;
    }
    this.#spaces(length - at);
    this.#push(newline);
  }

  #spaces(count: number): void {
    for (let left = count; left > 0; left -= maxBlankBytes) {
      if (left <= maxBlankBytes) this.#push(Buffer.alloc(left, space));
      else this.#push(Buffer.alloc(maxBlankBytes - newline.length, space), newline);
    }
  }

  #push(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.#waiting.push(part);
      this.#bytes += part.length;
    }
  }
}

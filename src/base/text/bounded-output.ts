import { leftoverBytes, unfinishedBytes } from "./truncate.js";
import { counted } from "./counted.js";

interface OutputBounds {
  readonly headBytes: number;
  readonly tailBytes: number;
}

const defaultBounds: OutputBounds = { headBytes: 16 * 1024, tailBytes: 16 * 1024 };

/** Keeps the beginning and the end of an output of any length, in constant memory. */
export class BoundedOutput {
  readonly #head: Buffer;
  /** A ring buffer: the byte after the newest is the oldest. */
  readonly #tail: Buffer;
  #headLength = 0;
  #beyondHead = 0;

  constructor(bounds: OutputBounds = defaultBounds) {
    this.#head = Buffer.alloc(bounds.headBytes);
    this.#tail = Buffer.alloc(bounds.tailBytes);
  }

  push(bytes: Uint8Array): void {
    const forHead = bytes.subarray(0, this.#head.length - this.#headLength);
    this.#head.set(forHead, this.#headLength);
    this.#headLength += forHead.length;
    this.#pushTail(bytes.subarray(forHead.length));
  }

  /** Whether anything was left out. */
  get isCut(): boolean {
    return this.#beyondHead > this.#tail.length;
  }

  /** The kept output as text; a line in the middle says how much is missing. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tailInOrder();
    const omitted = this.#beyondHead - tail.length;
    if (omitted === 0) return Buffer.concat([head, tail]).toString();
    const headEnd = head.length - unfinishedBytes(head);
    const tailStart = leftoverBytes(tail);
    const bytes = omitted + (head.length - headEnd) + tailStart;
    const before = head.toString("utf8", 0, headEnd);
    const lineEnd = before.endsWith("\n") ? "" : "\n";
    return `${before}${lineEnd}[... ${counted(bytes, "byte")} left out ...]\n${tail.toString("utf8", tailStart)}`;
  }

  #pushTail(bytes: Uint8Array): void {
    const last = bytes.subarray(-this.#tail.length);
    const start = (this.#beyondHead + bytes.length - last.length) % this.#tail.length;
    const untilEnd = last.subarray(0, this.#tail.length - start);
    this.#tail.set(untilEnd, start);
    this.#tail.set(last.subarray(untilEnd.length));
    this.#beyondHead += bytes.length;
  }

  #tailInOrder(): Buffer {
    if (this.#beyondHead <= this.#tail.length) return this.#tail.subarray(0, this.#beyondHead);
    const oldest = this.#beyondHead % this.#tail.length;
    return Buffer.concat([this.#tail.subarray(oldest), this.#tail.subarray(0, oldest)]);
  }
}

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { outputTo } from "../../src/cli/terminal/output.js";

test("every blocked write continues after drain", async () => {
  const stream = new SlowStream();
  const output = outputTo(stream);
  const writes = [output.write("one"), output.write("two"), output.write("three")];
  stream.release();
  await Promise.all(writes);
  expect(stream.text).toBe("onetwothree");
});

test("every blocked write continues when the reader is gone", async () => {
  const stream = new SlowStream();
  const output = outputTo(stream);
  const writes = [output.write("one"), output.write("two")];
  stream.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  await Promise.all(writes);
  expect([output.closed, output.failure]).toEqual([true, undefined]);
});

test("emphasis is shown on a terminal, and control characters in the text are escaped", async () => {
  const parts = [{ text: "a \u001b[31mred" }, { text: "\u001b]0;word\u0007", isMarked: true }, { text: "\n" }];
  const texts = [];
  for (const isTTY of [true, false]) {
    const stream = Object.assign(new SlowStream(), { isTTY });
    stream.release();
    await outputTo(stream).writeParts(parts);
    texts.push(stream.text);
  }
  expect(texts).toEqual([
    "a \u241b[31mred\u001b[1m\u241b]0;word\u2407\u001b[22m\n",
    "a \u241b[31mred\u241b]0;word\u2407\n",
  ]);
});

/** A stream that is always full, and accepts what was written when it is released. */
class SlowStream extends Writable {
  text = "";
  #isReleased = false;
  #onRelease: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1 });
  }

  release(): void {
    this.#isReleased = true;
    this.#onRelease?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.text += chunk.toString();
    if (this.#isReleased) callback();
    else this.#onRelease = callback;
  }
}

import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { outputTo } from "../../src/cli/output.js";

test("every write that waits for room goes on when there is room again", async () => {
  const stream = new SlowStream();
  const output = outputTo(stream);
  const writes = [output.write("one"), output.write("two"), output.write("three")];
  stream.release();
  await Promise.all(writes);
  expect(stream.text).toBe("onetwothree");
});

test("every write that waits goes on when nobody reads any more", async () => {
  const stream = new SlowStream();
  const output = outputTo(stream);
  const writes = [output.write("one"), output.write("two")];
  stream.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  await Promise.all(writes);
  expect([output.closed, output.failure]).toEqual([true, undefined]);
});

/** Has room for nothing, and takes what was written when it is released. */
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

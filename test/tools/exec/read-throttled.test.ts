import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readThrottled } from "../../../src/tools/exec/command-process.js";

test("readThrottled reads all bytes to the end", async () => {
  const seen: Buffer[] = [];
  await readThrottled(Readable.from([Buffer.from("one "), Buffer.from("two")]), (bytes) => seen.push(bytes));
  expect(Buffer.concat(seen).toString()).toBe("one two");
});

test("readThrottled returns for a stream that is already closed", async () => {
  const stream = Readable.from([]);
  stream.resume();
  await once(stream, "close");
  await readThrottled(stream, () => expect.unreachable());
});

import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readThrottled } from "../../../src/tools/exec/command-process.js";

test("all bytes are read, to the end", async () => {
  const seen: Buffer[] = [];
  await readThrottled(Readable.from([Buffer.from("one "), Buffer.from("two")]), (bytes) => seen.push(bytes));
  expect(Buffer.concat(seen).toString()).toBe("one two");
});

test("a stream that closed before anybody reads is at its end", async () => {
  const stream = Readable.from([]);
  stream.resume();
  await once(stream, "close");
  await readThrottled(stream, () => expect.unreachable());
});

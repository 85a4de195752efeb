import { expect, test } from "vitest";
import { OutputMemory } from "../../../src/actors/conversation/calls/output-store.js";
import { WholeOutput } from "../../../src/tools/exec/whole-output.js";

test("the output is kept up to its bound", () => {
  using output = new WholeOutput(new OutputMemory(100), 10);
  output.push(Buffer.from("12345"));
  output.push(Buffer.from("6789abc"));
  output.push(Buffer.from("def"));
  expect(output.text).toBe("123456789a");
});

test("output that exceeds the shared memory is dropped, and its memory is released", () => {
  const memory = new OutputMemory(10);
  {
    using output = new WholeOutput(memory);
    output.push(Buffer.from("12345678"));
    output.push(Buffer.from("too much"));
    output.push(Buffer.from("x"));
    expect(output.text).toBeUndefined();
  }
  expect(memory.take(10)).toBe(true);
});

test("disposing the output releases its memory", () => {
  const memory = new OutputMemory(10);
  {
    using output = new WholeOutput(memory);
    output.push(Buffer.from("1234567890"));
    expect(memory.take(1)).toBe(false);
  }
  expect(memory.take(10)).toBe(true);
});

import { expect, test } from "vitest";
import { OutputMemory } from "../../../src/actors/conversation/calls/output-store.js";
import { WholeOutput } from "../../../src/tools/exec/whole-output.js";

test("all that was written is there, up to a bound", () => {
  using output = new WholeOutput(new OutputMemory(100), 10);
  output.push(Buffer.from("12345"));
  output.push(Buffer.from("6789abc"));
  output.push(Buffer.from("def"));
  expect(output.text).toBe("123456789a");
});

test("when there is no room it is let go of, and the room is free again", () => {
  const room = new OutputMemory(10);
  {
    using output = new WholeOutput(room);
    output.push(Buffer.from("12345678"));
    output.push(Buffer.from("too much"));
    output.push(Buffer.from("x"));
    expect(output.text).toBeUndefined();
  }
  expect(room.take(10)).toBe(true);
});

test("the room is free again when it is over", () => {
  const room = new OutputMemory(10);
  {
    using output = new WholeOutput(room);
    output.push(Buffer.from("1234567890"));
    expect(room.take(1)).toBe(false);
  }
  expect(room.take(10)).toBe(true);
});

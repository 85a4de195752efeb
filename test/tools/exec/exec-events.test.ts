import { expect, test } from "vitest";
import { ExecEvents } from "../../../src/tools/exec/exec-events.js";
import { toolContext } from "../tool-context.js";

test("at most 10,000 output events are emitted", async () => {
  const context = await toolContext();
  const events = new ExecEvents(context);
  for (let piece = 0; piece < 10_005; piece += 1) events.output("stdout", Buffer.from("x"));
  expect(context.events.seen.length).toBe(10_000);
});

test("only the first 128 KiB of output are emitted", async () => {
  const context = await toolContext();
  const events = new ExecEvents(context);
  for (let piece = 0; piece < 5; piece += 1) events.output("stderr", Buffer.alloc(50_000));
  const sizes = context.events.seen.map((event) => ("chunk" in event ? Buffer.from(event.chunk, "base64").length : 0));
  expect(sizes).toEqual([50_000, 50_000, 31_072]);
});

test("durations are reported in whole seconds and nanoseconds", async () => {
  const context = await toolContext();
  new ExecEvents(context).end({ stdout: "", stderr: "", exitCode: 0, durationMs: 2_500.25 });
  expect(context.events.seen).toMatchObject([{ duration: { secs: 2, nanos: 500_250_000 } }]);
});

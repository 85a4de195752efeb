import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { StatusLine } from "../../src/cli/terminal/status-line.js";
import { outputTo } from "../../src/cli/terminal/output.js";
import type { Terminal } from "../../src/cli/terminal/terminal.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { beginsAndHangs, says, scripted } from "../support/scripted-provider.js";

const ctrlC = "\u0003";
const hangs = [{ type: "hang" as const }];
const erased = "\r\u001b[K";

test("a terminal shows a line while waiting for the model, and erases it when the turn ends", async () => {
  const terminal = await FakeTerminal.open(scripted([hangs, says("Hello.")]));
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("first\r");
  await terminal.tells("⠋ Waiting for the model...");
  await terminal.tells(`${erased}⠙ Waiting for the model...`);
  terminal.type(ctrlC);
  await terminal.tells(`${erased}Interrupted.\n`);
  await terminal.shows("› ");
  terminal.type("second\r");
  await terminal.shows("Hello.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

test("the waiting line shows the elapsed time after some seconds", async () => {
  let now = 0;
  const terminal = await FakeTerminal.open(scripted([hangs]), { now: () => now });
  const running = terminal.run("chat", "hello");
  await terminal.tells("Waiting for the model...");
  now += 12_300;
  await terminal.tells("Waiting for the model... 12s");
  terminal.signal("SIGINT");
  expect(await running).toBe(130);
  expect(terminal.errors.split(erased).at(-1)).toMatch(/^Interrupted\.\n/);
});

test("the waiting line stays while the model writes a tool call", async () => {
  const start = { type: "tool_call_start", itemId: "i", callId: "c", name: "write_file" } as const;
  const delta = { type: "tool_call_delta", itemId: "i", delta: "x" } as const;
  const terminal = await FakeTerminal.open(
    scripted([[start, ...Array.from({ length: 50 }, () => delta), { type: "hang" }]]),
  );
  const running = terminal.run("chat", "hello");
  await terminal.tells("⠋ Waiting for the model...");
  terminal.signal("SIGINT");
  expect(await running).toBe(130);
});

test("the waiting line does not overwrite an answer that has begun", async () => {
  const terminal = await FakeTerminal.open(scripted([beginsAndHangs("Once upon"), hangs]));
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("first\r");
  await terminal.shows("Once upon");
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.\n");
  expect(terminal.errors).not.toContain("Waiting");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

test.each([
  ["a terminal", { isTTY: true, columns: 80 }, {}, "⠋ Busy..."],
  ["a pipe", {}, {}, ""],
  ["a dumb terminal", { isTTY: true, columns: 80 }, { TERM: "dumb" }, ""],
  ["a terminal too narrow for it", { isTTY: true, columns: 9 }, {}, ""],
])("%s gets the waiting line only where it can be erased", async (_, kind, env, drawn) => {
  const stream = Object.assign(new PassThrough(), kind);
  const status = new StatusLine({ stderr: outputTo(stream), env } as unknown as Terminal);
  expect(await status.show(() => "Busy...")).toBe(drawn !== "");
  expect(String(stream.read() ?? "")).toBe(drawn);
  await status.clear();
  expect(String(stream.read() ?? "")).toBe(drawn === "" ? "" : erased);
});

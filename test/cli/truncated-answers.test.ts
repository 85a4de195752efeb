import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Event } from "../../src/messages/event.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { fails, type Reply, says, scripted } from "../support/scripted-provider.js";

const warning = "The model's answer was cut off at its output limit and is not complete.";

/** An answer that ends at the output limit. */
function truncatedAnswer(text: string): Reply {
  return [...says(text).slice(0, -1), { type: "done", finishReason: "length" }];
}

test("chat prints a truncated answer, warns on stderr, and exits with 5", async () => {
  const terminal = await FakeTerminal.open(scripted([truncatedAnswer("Once upon a"), says("time")]));
  expect(await terminal.run("chat", "Tell a story")).toBe(5);
  expect(terminal.screen).toBe("Once upon a\n");
  expect(terminal.errors).toContain(warning);
  expect(await terminal.run("chat", "Continue")).toBe(0);
});

test("chat --json marks the end of a truncated turn", async () => {
  const terminal = await FakeTerminal.open(scripted([truncatedAnswer("Once")]));
  expect(await terminal.run("chat", "--json", "Tell a story")).toBe(5);
  const events = terminal.screen
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as Event).msg);
  expect(events.at(-1)).toMatchObject({ type: "task_complete", last_agent_message: "Once", truncated: true });
});

test("a truncated answer that violates --output-schema exits with 5, not with 1", async () => {
  const terminal = await FakeTerminal.open(scripted([truncatedAnswer('{"a":')]));
  const schema = join(terminal.cwd, "schema.json");
  await writeFile(schema, '{"type":"object","properties":{},"additionalProperties":false}');
  expect(await terminal.run("chat", "--output-schema", schema, "Go")).toBe(5);
  expect(terminal.errors).toContain("does not match --output-schema");
});

test("the interactive prompt warns about a truncated answer and continues", async () => {
  const terminal = await FakeTerminal.open(scripted([truncatedAnswer("Once upon a"), says("time")]));
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("Tell a story\r");
  await terminal.shows("Once upon a\n");
  await terminal.tells(warning);
  terminal.type("Continue\r");
  await terminal.shows("time\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

test.each([
  { replies: [truncatedAnswer("One"), says("Two")], code: 5 },
  { replies: [truncatedAnswer("One"), fails("auth", false)], code: 1 },
  { replies: [fails("auth", false), truncatedAnswer("Two")], code: 1 },
])("several piped lines exit with the worst exit code: $code", async ({ replies, code }) => {
  const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout"] });
  const running = terminal.run();
  terminal.type("one\ntwo\n");
  terminal.hangUp();
  expect(await running).toBe(code);
});

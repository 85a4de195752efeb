import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { apply, emptyState } from "../../../src/actors/conversation/state/state.js";
import type { OwnLine } from "../../../src/messages/rollout-line.js";
import { legacyLines } from "../../../src/rollouts/file/legacy-lines.js";
import { readRollout } from "../../../src/rollouts/file/read.js";

const fixtures = fileURLToPath(new URL("../../fixtures/codex/v0.166.0/", import.meta.url));
const files = readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));

async function linesOf(file: string): Promise<OwnLine[]> {
  const lines: OwnLine[] = [];
  for await (const { line } of readRollout(fixtures + file, file)) lines.push(line);
  return lines;
}

function folded(lines: readonly OwnLine[]) {
  const state = emptyState();
  for (const line of lines) apply(state, line);
  return state;
}

describe("a paginated rollout converted to legacy lines is the same conversation", () => {
  test.each(files)("%s", async (file) => {
    const paginated = await linesOf(file);
    const legacy = paginated.flatMap(legacyLines);
    expect(folded(legacy)).toEqual(folded(paginated));
    const keys = new Set(legacy.slice(1).flatMap((line) => Object.keys(line)));
    expect(keys).toEqual(new Set(["timestamp", "type", "payload"]));
    const types: string[] = legacy.map(({ payload }) => ("type" in payload ? payload.type : ""));
    expect(types).toContain("user_message");
    expect(types).not.toContain("item_completed");
  });
});

/** Goes through JSON, as a line from a file does. */
function item(of: unknown): OwnLine {
  const payload = { type: "item_completed", item: of };
  return JSON.parse(JSON.stringify({ timestamp: "t", ordinal: 1, type: "event_msg", payload })) as OwnLine;
}

function event(payload: unknown): unknown {
  return { timestamp: "t", type: "event_msg", payload };
}

function text(type: string, value: string): unknown {
  return { type, text: value };
}

test("completed items become the legacy events for messages, reasoning and compactions", () => {
  expect(legacyLines(item({ type: "UserMessage", content: [text("text", "one"), text("text", "two")] }))).toEqual([
    event({ type: "user_message", message: "one\ntwo", images: [] }),
  ]);
  expect(legacyLines(item({ type: "AgentMessage", content: [text("Text", "hello")] }))).toEqual([
    event({ type: "agent_message", message: "hello" }),
  ]);
  expect(legacyLines(item({ type: "Reasoning", summary_text: ["a", "b"] }))).toEqual([
    event({ type: "agent_reasoning", text: "a" }),
    event({ type: "agent_reasoning", text: "b" }),
  ]);
  expect(legacyLines(item({ type: "ContextCompaction" }))).toEqual([event({ type: "context_compacted" })]);
  for (const other of [{ type: "CommandExecution" }, { type: "UserMessage" }, { type: "Reasoning" }, null, "x"]) {
    expect(legacyLines(item(other)).every(({ type }) => type === "event_msg")).toBe(true);
  }
});

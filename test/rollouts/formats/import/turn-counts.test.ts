import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openManager } from "../../../support/open-conversation.js";
import { importFixtures, sourceOf } from "./import-fixture.js";

const codexFixtures = fileURLToPath(new URL("../../../fixtures/codex/", import.meta.url));
const manifest = JSON.parse(readFileSync(join(codexFixtures, "manifest.json"), "utf8")) as { readonly file: string }[];
const sources = [
  ...["claude-code.jsonl", "diligent-2.jsonl", "envoy.jsonl", "history.json", "pi.jsonl", "turns.jsonl"].map(
    (name) => ({
      name,
      path: join(importFixtures, name),
    }),
  ),
  ...manifest.map(({ file }) => ({ name: file, path: join(codexFixtures, file) })),
];

/** The number of turns an import reports, and the number in an export of the result. */
async function turnCounts(path: string): Promise<{ imported: number; counted: number; exported: number }> {
  const { manager } = await openManager({ cwd: "/" });
  const result = await manager.importConversation(path);
  if (result.status !== "imported") throw new Error(`${path} was imported before`);
  let text = "";
  for await (const piece of await manager.exportConversation(result.conversationId, { format: "json" })) text += piece;
  const { counts, turns } = JSON.parse(text) as { counts: { turns: number }; turns: unknown[] };
  return { imported: result.turns, counted: counts.turns, exported: turns.length };
}

test.each(sources)("an import of $name counts the same turns as an export", async ({ path }) => {
  const { imported, counted, exported } = await turnCounts(path);
  expect(imported).toBeGreaterThan(0);
  expect({ counted, exported }).toEqual({ counted: imported, exported: imported });
});

test("a turn without messages is not counted, and one without start and end events is", async () => {
  const timestamp = "2026-11-16T10:20:30.000Z";
  const event = (payload: object): object => ({ timestamp, type: "event_msg", payload });
  const message = (role: string, text: string): object => {
    const type = role === "user" ? "input_text" : "output_text";
    return { timestamp, type: "response_item", payload: { type: "message", role, content: [{ type, text }] } };
  };
  const path = await sourceOf([
    {
      timestamp,
      type: "session_meta",
      payload: {
        id: "019a0000-0000-7000-8000-000000000042",
        timestamp,
        cwd: "/",
        originator: "codex",
        cli_version: "1",
      },
    },
    message("user", "old"),
    message("assistant", "first"),
    message("user", "older"),
    message("assistant", "another"),
    event({ type: "task_started", turn_id: "turn_1" }),
    message("user", "new"),
    message("assistant", "second"),
    event({ type: "task_complete", turn_id: "turn_1", last_agent_message: "second" }),
    event({ type: "task_started", turn_id: "turn_2" }),
    event({ type: "turn_aborted", turn_id: "turn_2", reason: "interrupted" }),
  ]);
  expect(await turnCounts(path)).toEqual({ imported: 3, counted: 3, exported: 3 });
});

test("a turn of an older Codex that was interrupted before an answer is counted", async () => {
  const aborted = manifest.find(({ file }) => file.startsWith("v0.58.0/aborted/"));
  expect(await turnCounts(join(codexFixtures, aborted?.file ?? ""))).toEqual({ imported: 2, counted: 2, exported: 2 });
});

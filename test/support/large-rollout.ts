import { appendFile, readFile, writeFile } from "node:fs/promises";
import { encodeLine, sessionMetaLine } from "../../src/rollouts/file/encode.js";

const recorded = new URL(
  "../fixtures/codex/v0.58.0/tools/rollout-2026-11-16T00-53-02-01a1e1d7-dc34-7690-a587-4b1aa66115b0.jsonl",
  import.meta.url,
);
const timestamp = "2026-11-16T00:00:00.000Z";

/** Writes a rollout of at least this many bytes by repeating turns with tools that Codex recorded. */
export async function writeLargeRollout(path: string, conversationId: string, bytes: number): Promise<void> {
  const labels = { provider: "offline", model: "offline", cwd: "/", source: "non_interactive" as const };
  const first = encodeLine(sessionMetaLine({ conversationId, now: new Date(timestamp), ...labels }));
  const [, ...lines] = (await readFile(recorded, "utf8")).split("\n");
  const turns = lines.join("\n");
  const unknown = `${JSON.stringify({ timestamp, type: "of_tomorrow", payload: {} })}\n`;
  const openTurn = `${JSON.stringify({ timestamp, type: "event_msg", payload: { type: "task_started", turn_id: "open" } })}\n`;
  const odd = `${JSON.stringify({ timestamp, type: "response_item", payload: oddMessage })}\n`;
  await writeFile(path, first + unknown + odd + turns.repeat(Math.ceil(bytes / turns.length)) + openTurn);
}

export const summary = { type: "message", role: "user", content: [{ type: "input_text", text: "the summary" }] };

/** Replaces the history and adds a message after it: threads read only such rollouts. */
export async function appendCompaction(path: string): Promise<void> {
  const payload = { message: "the summary", replacement_history: [summary] };
  const compacted = JSON.stringify({ timestamp, type: "compacted", payload });
  const said = JSON.stringify({ timestamp, type: "response_item", payload: summary });
  await appendFile(path, `${compacted}\n${`${said}\n`.repeat(1_000)}`);
}

const oddMessage = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "😀 \ud800 東京" }],
  of_tomorrow: { kept: [1, null, "x"] },
};

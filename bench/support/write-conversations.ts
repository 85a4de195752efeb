import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newConversationId } from "../../src/actors/conversation/open/open-conversation.js";
import { homePaths } from "../../src/config/paths.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { encodeLine, sessionMetaLine } from "../../src/rollouts/file/encode.js";
import { line } from "./sample-line.js";

const answersEach = 6;

/** Writes `count` saved conversations of a few kilobytes each into a home. */
export async function writeConversations(home: string, count: number): Promise<void> {
  const { conversations } = homePaths(home);
  await mkdir(conversations, { recursive: true, mode: 0o700 });
  for (let index = 0; index < count; index += 1) {
    const id = newConversationId();
    await writeFile(join(conversations, `${id}.jsonl`), rollout(id, index), { mode: 0o600 });
  }
}

function rollout(conversationId: string, index: number): string {
  const now = new Date();
  const timestamp = now.toISOString();
  const labels = { provider: "offline", model: "offline", cwd: "/somewhere", source: "non_interactive" as const };
  const question: OwnLine = {
    timestamp,
    type: "response_item",
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: `What is ${index}+2?` }] },
  };
  const answers = Array.from({ length: answersEach }, () => line);
  return [sessionMetaLine({ conversationId, now, ...labels }), question, ...answers].map(encodeLine).join("");
}

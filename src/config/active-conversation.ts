import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isConversationId } from "../messages/conversation-id.js";
import { homePaths } from "./paths.js";
import { writeAtomic } from "./write-atomic.js";

/** Projects must not mix, and neither must two places conversations are kept in. */
export interface ActiveKey {
  readonly projectRoot: string;
  readonly directory: string;
}

/** The conversation `chat` goes on with; a damaged pointer is the same as none. */
export async function readActive(home: string, key: ActiveKey): Promise<string | undefined> {
  try {
    const pointer: unknown = JSON.parse(await readFile(pointerPath(home, key), "utf8"));
    if (typeof pointer !== "object" || pointer === null || !("conversationId" in pointer)) return undefined;
    const { conversationId } = pointer;
    return typeof conversationId === "string" && isConversationId(conversationId) ? conversationId : undefined;
  } catch {
    return undefined;
  }
}

export async function writeActive(home: string, key: ActiveKey, conversationId: string): Promise<void> {
  await writeAtomic(pointerPath(home, key), `${JSON.stringify({ conversationId, ...key })}\n`);
}

function pointerPath(home: string, { projectRoot, directory }: ActiveKey): string {
  const name = createHash("sha256").update(`${projectRoot}\0${directory}`).digest("hex").slice(0, 32);
  return join(homePaths(home).active, `${name}.json`);
}

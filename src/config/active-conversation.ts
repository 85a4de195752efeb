import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isConversationId } from "../messages/conversation-id.js";
import { homePaths } from "./paths.js";
import { writeAtomic } from "./write-atomic.js";

/** Projects must not mix, and neither must two places conversations are kept in. */
export interface ActiveKey {
  readonly projectRoot: string;
  readonly directory: string;
}

export interface ActiveConversation {
  readonly id: string;
  /** Its file, when that is not where conversations are kept. */
  readonly path?: string;
}

/** The conversation `chat` goes on with; a damaged pointer is the same as none. */
export async function readActive(home: string, key: ActiveKey): Promise<ActiveConversation | undefined> {
  try {
    const pointer: unknown = JSON.parse(await readFile(pointerPath(home, key), "utf8"));
    if (typeof pointer !== "object" || pointer === null || !("conversationId" in pointer)) return undefined;
    const { conversationId: id } = pointer;
    if (typeof id !== "string" || !isConversationId(id)) return undefined;
    const path = "path" in pointer ? pointer.path : undefined;
    return typeof path === "string" && isAbsolute(path) ? { id, path } : { id };
  } catch {
    return undefined;
  }
}

export async function writeActive(home: string, key: ActiveKey, { id, path }: ActiveConversation): Promise<void> {
  const pointer = { conversationId: id, ...key, ...(path === undefined ? {} : { path }) };
  await writeAtomic(pointerPath(home, key), `${JSON.stringify(pointer)}\n`);
}

function pointerPath(home: string, { projectRoot, directory }: ActiveKey): string {
  const name = createHash("sha256").update(`${projectRoot}\0${directory}`).digest("hex").slice(0, 32);
  return join(homePaths(home).active, `${name}.json`);
}

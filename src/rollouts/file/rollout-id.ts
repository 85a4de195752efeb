import { basename } from "node:path";
import { isConversationId, shownId } from "../../base/text/conversation-id.js";
import { isRecord } from "../../base/is-record.js";
import { idFromFileName } from "../layout.js";
import { readLineBytes, withoutMark, rawLines } from "./lines.js";

/** Returns the conversation id from the first line of a file, or else from its name. */
export async function rolloutId(path: string): Promise<string | undefined> {
  const id = (await firstPayload(path))?.["id"];
  return typeof id === "string" && isConversationId(id) ? shownId(id) : idFromFileName(basename(path));
}

/** Returns the commit at which a conversation started, from the first line. */
export async function firstCommit(path: string): Promise<string | undefined> {
  const git = (await firstPayload(path))?.["git"];
  const commit = isRecord(git) ? git["commit_hash"] : undefined;
  return typeof commit === "string" && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit) ? commit : undefined;
}

async function firstPayload(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  for await (const raw of rawLines(path, path)) {
    const read = raw.status === "line" ? readLineBytes(withoutMark(raw.bytes)) : undefined;
    if (read?.status === "blank") continue;
    const payload = read?.status === "object" && read.value.type === "session_meta" ? read.value["payload"] : undefined;
    return isRecord(payload) ? payload : undefined;
  }
  return undefined;
}

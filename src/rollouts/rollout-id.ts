import { basename } from "node:path";
import { isConversationId, shownId } from "../messages/conversation-id.js";
import { idOfName } from "./layout.js";
import { isRecord, readLineBytes, withoutMark } from "./line-object.js";
import { rawLines } from "./raw-lines.js";

/** The id of the conversation a file holds, whatever its name: as its first line says, else as its name does. */
export async function rolloutId(path: string): Promise<string | undefined> {
  for await (const raw of rawLines(path, path)) {
    const read = raw.status === "line" ? readLineBytes(withoutMark(raw.bytes)) : undefined;
    if (read?.status === "blank") continue;
    const payload = read?.status === "object" && read.value.type === "session_meta" ? read.value["payload"] : undefined;
    const id = isRecord(payload) ? payload["id"] : undefined;
    if (typeof id === "string" && isConversationId(id)) return shownId(id);
    break;
  }
  return idOfName(basename(path));
}

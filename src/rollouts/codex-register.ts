import { basename, sep } from "node:path";
import { bareId, isConversationId, shownId } from "../messages/conversation-id.js";
import { isRecord } from "../base/is-record.js";
import { jsonOrUndefined } from "../base/parse.js";
import { appendToIndex, readIndex, readIndexSync } from "./list/index-file.js";
import type { RolloutName } from "./list/layout-files.js";
import { idOfName } from "./layout.js";

/**
 * The register names the conversations that cody has begun in Codex's directory. A list shows these and no others of
 * that directory, without looking through the thousands of files that Codex may keep there.
 */
export async function registerInCodex(register: string, { id, path }: RolloutName): Promise<void> {
  await appendToIndex(register, { id: bareId(id), path });
}

/** The registered conversations below a directory; whether their files still exist is not checked. */
export async function registeredIn(register: string, directory: string): Promise<RolloutName[]> {
  return namesIn(await readIndex(register), directory);
}

/** The same for a command that does nothing else. */
export function registeredInSync(register: string, directory: string): RolloutName[] {
  return namesIn(readIndexSync(register), directory);
}

function namesIn(lines: readonly string[], directory: string): RolloutName[] {
  const found = new Map(lines.flatMap((line) => entryOf(line, directory)).map((rollout) => [rollout.id, rollout]));
  return [...found.values()];
}

function entryOf(line: string, directory: string): RolloutName[] {
  const value = jsonOrUndefined(line);
  if (!isRecord(value)) return [];
  const { id, path } = value;
  if (typeof id !== "string" || !isConversationId(id) || typeof path !== "string") return [];
  const isBelow = path.startsWith(directory + sep) && !path.split(sep).includes("..");
  const rollout = { id: shownId(id), path };
  return isBelow && idOfName(basename(path)) === rollout.id ? [rollout] : [];
}

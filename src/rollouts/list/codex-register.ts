import { basename, sep } from "node:path";
import { bareId } from "../../base/text/conversation-id.js";
import { appendToIndex, entriesIn, readIndex, readIndexSync } from "./index-file.js";
import type { RolloutName } from "./layout-files.js";
import { idFromFileName } from "../layout.js";

/**
 * Adds a conversation to the register of those that cody started in Codex's directory. Lists show only registered
 * conversations of that directory, so that they need not scan the thousands of files Codex may keep there.
 */
export async function registerInCodex(register: string, { id, path }: RolloutName): Promise<void> {
  await appendToIndex(register, { id: bareId(id), path });
}

/** Returns the registered conversations below a directory, without checking that their files still exist. */
export async function registeredIn(register: string, directory: string): Promise<RolloutName[]> {
  return namesIn(await readIndex(register), directory);
}

/** Synchronous variant for short commands. */
export function registeredInSync(register: string, directory: string): RolloutName[] {
  return namesIn(readIndexSync(register), directory);
}

function namesIn(lines: readonly string[], directory: string): RolloutName[] {
  const found = entriesIn(lines, ({ path }, { id }): RolloutName | undefined => {
    if (typeof path !== "string") return undefined;
    const isBelow = path.startsWith(directory + sep) && !path.split(sep).includes("..");
    return isBelow && idFromFileName(basename(path)) === id ? { id, path } : undefined;
  });
  return [...found.values()];
}

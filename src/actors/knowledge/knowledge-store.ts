import { realpath } from "node:fs/promises";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { KnowledgeEntry } from "../../messages/tools/knowledge.js";
import { check } from "../../base/parse.js";
import { openFolder } from "../../tools/files/open-folder.js";
import { readKnowledgeFile } from "./read-knowledge.js";
import { appendEntries } from "./write-knowledge.js";

/** Appends an entry to the knowledge in a directory, which is created if missing; durable when it resolves. */
export async function appendKnowledge(directory: string, entry: KnowledgeEntry): Promise<void> {
  const checked = check(KnowledgeEntry, entry, "knowledge");
  await makeDirectory(directory);
  await using folder = await openFolder(await realpath(directory), []);
  await appendEntries(folder, [checked]);
}

/** Returns all entries in a directory, oldest first; none when there is not a file. Invalid lines are skipped. */
export async function readKnowledge(
  directory: string,
  onProblem: (problem: string) => void = () => undefined,
): Promise<KnowledgeEntry[]> {
  const { entries, problems } = await readKnowledgeFile(directory);
  problems.forEach(onProblem);
  return [...entries];
}

/** Returns the newest entries, newest first. */
export async function readRecentKnowledge(
  directory: string,
  limit: number,
  onProblem?: (problem: string) => void,
): Promise<KnowledgeEntry[]> {
  const entries = await readKnowledge(directory, onProblem);
  return entries.toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp)).slice(0, Math.max(0, limit));
}

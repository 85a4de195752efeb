import { open, readFile } from "node:fs/promises";
import { appendFlags } from "../../base/fs/open-regular.js";
import { withFileLock } from "../../config/file-lock.js";
import type { KnowledgeEntry } from "../../messages/tools/knowledge.js";
import { FileProblem, rejectSpecialFile } from "../../tools/files/file-problem.js";
import type { OpenFolder } from "../../tools/files/open-folder.js";
import { statExisting, replaceFile } from "../../tools/files/replace-file.js";
import { type KnowledgeLine, knowledgeLine, knowledgeLines } from "./knowledge-lines.js";
import { knowledgeName, maxKnowledgeBytes } from "./read-knowledge.js";

const lockName = `${knowledgeName}.lock`;
const newline = 0x0a;
const maxRewrittenBytes = 64 * maxKnowledgeBytes;

/** Appends all entries or none; they are durable when it resolves. Only one process writes at a time. */
export async function appendEntries(folder: OpenFolder, entries: readonly KnowledgeEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await withFileLock(folder.at(lockName), () => append(folder, entries.map(knowledgeLine).join("")));
}

async function append(folder: OpenFolder, lines: string): Promise<void> {
  const file = await open(folder.at(knowledgeName), appendFlags, 0o600);
  try {
    const stats = await file.stat();
    rejectSpecialFile(stats);
    // Another hard link to the file may be anywhere.
    if (stats.nlink > 1) throw new FileProblem(`${knowledgeName} has another hard link`);
    const last = Buffer.alloc(1, newline);
    if (stats.size > 0) await file.read(last, 0, 1, stats.size - 1);
    // The last writer may have died in the middle of a line.
    const bytes = Buffer.from(last[0] === newline ? lines : `\n${lines}`);
    if (stats.size + bytes.length > maxKnowledgeBytes) {
      throw new FileProblem(`${knowledgeName} is full. To remove old entries: cody knowledge prune`);
    }
    await folder.verify();
    try {
      await file.appendFile(bytes);
      await file.datasync();
    } catch (error) {
      await file.truncate(stats.size).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** Removes lines by replacing the whole file; returns the removed ones. */
export async function removeLines(
  folder: OpenFolder,
  goes: (lines: readonly KnowledgeLine[]) => readonly KnowledgeLine[],
): Promise<readonly KnowledgeLine[]> {
  return await withFileLock(folder.at(lockName), async () => {
    const old = await statExisting(folder.at(knowledgeName));
    if (old === undefined) return [];
    if (old.size > maxRewrittenBytes) throw new FileProblem(`${knowledgeName} is too large to be rewritten`);
    const lines = knowledgeLines(await readFile(folder.at(knowledgeName), "utf8"));
    const gone = goes(lines);
    if (gone.length === 0) return [];
    const kept = lines.filter((line) => !gone.includes(line)).map(({ text }) => `${text}\n`);
    await replaceFile(folder, knowledgeName, kept.join(""), () => undefined);
    return gone;
  });
}

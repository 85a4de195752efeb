import { open, readFile, lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { appendFlags, NotRegularError, openRegular, readAt } from "../../base/fs/open-regular.js";
import { check } from "../../base/parse.js";
import { systemCode, systemReason } from "../../base/system-error.js";
import { visible } from "../../base/text/visible.js";
import { withFileLock } from "../../config/file-lock.js";
import { KnowledgeEntry } from "../../messages/tools/knowledge.js";
import { FileProblem, rejectSpecialFile } from "../../tools/files/file-problem.js";
import { type OpenFolder, openFolder } from "../../tools/files/open-folder.js";
import { statExisting, replaceFile } from "../../tools/files/replace-file.js";

const knowledgeName = "knowledge.jsonl";

/** Thirty times as much as a prompt ever contains, and small enough to be read whole. */
export const maxKnowledgeBytes = 1024 * 1024;

const nothing: ReadKnowledge = { entries: [], problems: [] };

const maxLineChars = 64 * 1024;

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
  selectRemoved: (lines: readonly KnowledgeLine[]) => readonly KnowledgeLine[],
): Promise<readonly KnowledgeLine[]> {
  return await withFileLock(folder.at(lockName), async () => {
    const old = await statExisting(folder.at(knowledgeName));
    if (old === undefined) return [];
    if (old.size > maxRewrittenBytes) throw new FileProblem(`${knowledgeName} is too large to be rewritten`);
    const lines = knowledgeLines(await readFile(folder.at(knowledgeName), "utf8"));
    const removed = selectRemoved(lines);
    if (removed.length === 0) return [];
    const remaining = lines.filter((line) => !removed.includes(line)).map(({ text }) => `${text}\n`);
    await replaceFile(folder, knowledgeName, remaining.join(""), () => undefined);
    return removed;
  });
}

/** A line of a knowledge file, with its entry if it is valid. */
interface KnowledgeLine {
  readonly text: string;
  /** Starts at 1. */
  readonly number: number;
  readonly entry: KnowledgeEntry | undefined;
}

/** The non-empty lines of a file. A line without a valid entry is kept, because it may belong to someone. */
export function knowledgeLines(text: string): KnowledgeLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ text: line, number: index + 1 }))
    .filter((line) => line.text.trim() !== "")
    .map((line) => ({ ...line, entry: entryIn(line.text) }));
}

function knowledgeLine(entry: KnowledgeEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

function entryIn(line: string): KnowledgeEntry | undefined {
  if (line.length > maxLineChars) return undefined;
  try {
    return KnowledgeEntry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

export interface ReadKnowledge {
  readonly entries: readonly KnowledgeEntry[];
  /** Problems with the file, for the user. */
  readonly problems: readonly string[];
}

/** Returns a stamp that distinguishes states of the file without reading it. */
export async function knowledgeStamp(directory: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(join(directory, knowledgeName), { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    return systemCode(error) ?? "unknown";
  }
}

/**
 * Reads the file in a directory; file problems are returned, not thrown. With `root`, the directory must really lie
 * below it.
 */
export async function readKnowledgeFile(directory: string, root?: string): Promise<ReadKnowledge> {
  const path = join(directory, knowledgeName);
  try {
    const end = await readEnd(path);
    if (root !== undefined && !(await realpath(directory)).startsWith(`${await realpath(root)}/`)) {
      return { entries: [], problems: [`${visible(path)} is ignored: it is a link to a path outside the project`] };
    }
    return parseKnowledge(path, end);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return nothing;
    if (!(error instanceof NotRegularError) && code === undefined) throw error;
    const system = code === "ELOOP" ? "it is a symbolic link" : systemReason(error);
    const reason = code === undefined ? "it is not a regular file" : system;
    return { entries: [], problems: [`${visible(path)} is ignored: ${reason}`] };
  }
}

interface FileEnd {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Reads the file; if it is too long, only the complete lines at its end, which are the newest. */
async function readEnd(path: string): Promise<FileEnd> {
  await using regular = await openRegular(path, { links: "refuse" });
  const { size } = regular.stats;
  const from = Math.max(0, size - maxKnowledgeBytes);
  const text = (await readAt(regular.file, from, size - from)).toString();
  return from === 0 ? { text, isWhole: true } : { text: text.slice(text.indexOf("\n") + 1), isWhole: false };
}

function parseKnowledge(path: string, { text, isWhole }: FileEnd): ReadKnowledge {
  const lines = knowledgeLines(text);
  const entries = lines.flatMap(({ entry }) => entry ?? []);
  const unknown = lines.filter(({ entry }) => entry === undefined);
  const [first] = unknown;
  return {
    entries,
    problems: [
      ...(isWhole ? [] : [`${visible(path)} is too long: only its last ${maxKnowledgeBytes} bytes were read`]),
      ...(first === undefined
        ? []
        : [
            `${visible(path)}: skipped ${unknown.length} line(s) with invalid knowledge; the first is line ${first.number}`,
          ]),
    ],
  };
}

/** Appends an entry to the knowledge in a directory, which is created if missing; durable when it resolves. */
export async function appendKnowledge(directory: string, entry: KnowledgeEntry): Promise<void> {
  const checked = check(KnowledgeEntry, entry, "knowledge");
  await makeDirectory(directory);
  await using folder = await openFolder(await realpath(directory), []);
  await appendEntries(folder, [checked]);
}

/** Returns all entries in a directory, oldest first; none when there is no file. Invalid lines are skipped. */
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

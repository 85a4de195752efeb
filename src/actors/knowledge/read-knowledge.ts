import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { KnowledgeEntry } from "../../messages/tools/knowledge.js";
import { NotRegularError, openRegular, readAt } from "../../base/fs/open-regular.js";
import { systemCode, systemReason } from "../../base/system-error.js";
import { visible } from "../../base/text/visible.js";
import { knowledgeLines } from "./knowledge-lines.js";

export const knowledgeName = "knowledge.jsonl";
/** Thirty times as much as a prompt ever contains, and small enough to be read whole. */
export const maxKnowledgeBytes = 1024 * 1024;

export interface ReadKnowledge {
  readonly entries: readonly KnowledgeEntry[];
  /** Problems with the file, for the user. */
  readonly problems: readonly string[];
}

const nothing: ReadKnowledge = { entries: [], problems: [] };

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

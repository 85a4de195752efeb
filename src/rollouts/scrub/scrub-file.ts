import { type FileHandle, utimes } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { FailureError } from "../../messages/errors.js";
import type { SecretKind, TextRedactor } from "../../messages/redaction.js";
import { syncDirectory } from "../file/file-system.js";
import { openRegularFile } from "../file/raw-lines.js";
import type { RepairFiles } from "../repair/repair-files.js";
import { allLines } from "../repair/repair-lines.js";
import { isUnchanged, writeReplacement } from "../file/replacement.js";
import { scrubLine } from "./scrub-line.js";

/** A line with secrets; nothing of it is quoted. */
export interface ScrubHit {
  readonly line: number;
  readonly found: Readonly<Record<SecretKind, number>>;
}

export interface FileScrub {
  readonly file: string;
  readonly lines: number;
  readonly found: Readonly<Record<SecretKind, number>>;
  readonly hitLines: number;
  /** The first of them. */
  readonly hits: readonly ScrubHit[];
  /** Whether other rollouts may begin with so many bytes of it. */
  readonly isNumbered: boolean;
  /** Lines that keep a known secret, because nothing may be changed where it stands. */
  readonly kept: readonly number[];
}

export interface ScrubRequest {
  readonly conversationId: string;
  readonly redactor: TextRedactor;
  /** Who scrubs: only one's own files can be replaced by files that are the same to everybody. */
  readonly uid: number;
  /** Which lines are looked at; all of them unless it says so. */
  isWanted?(line: string): boolean;
}

const maxListed = 1_000;

/** Says what would be taken out of a file of lines. */
export async function lookForSecrets(path: string, request: ScrubRequest): Promise<FileScrub> {
  const file = await openRegularFile(path, request.conversationId);
  try {
    return await scrubbed(file, path, request, async () => undefined);
  } finally {
    await file.close();
  }
}

/**
 * Writes a file of lines anew, without secrets, and puts that in its place; nothing is kept of the old one. Only for who
 * holds the lock. The file keeps its time: the conversation was not gone on with.
 */
export async function scrubFile(
  files: RepairFiles,
  path: string,
  temporary: string,
  request: ScrubRequest,
): Promise<FileScrub> {
  const found = await lookForSecrets(path, request);
  if (found.hitLines === 0) return found;
  if (found.isNumbered)
    throw refused(request, path, "has lines numbered by Codex, and others point to their places in it");
  const file = await openRegularFile(path, request.conversationId);
  try {
    const before = await file.stat();
    if (before.uid !== request.uid) throw refused(request, path, "belongs to another user");
    const result = await writeReplacement(files, temporary, (write) => scrubbed(file, path, request, write));
    await utimes(temporary, before.atime, before.mtime);
    if (!isUnchanged(before, await files.lstat(path)))
      throw refused(request, path, "was changed by another program meanwhile");
    await files.rename(temporary, path);
    await syncDirectory(files, dirname(path));
    return result;
  } finally {
    // When all went well it is not there any more.
    await files.remove(temporary).catch(() => undefined);
    await file.close();
  }
}

/** Beside the payload, not in it. */
const numbered = /^\{(?:"\w+":(?:"[^"]*"|\d+),)*"ordinal":\d/;
const newline = Buffer.from("\n");

async function scrubbed(
  from: FileHandle,
  path: string,
  request: ScrubRequest,
  write: (bytes: Buffer) => Promise<void>,
): Promise<FileScrub> {
  const found = { known: 0, named: 0, shaped: 0 };
  const hits: ScrubHit[] = [];
  const kept: number[] = [];
  let [lines, hitLines, isNumbered] = [0, 0, false];
  for await (const { number, bytes, terminated } of allLines(from)) {
    if (bytes === undefined) throw refused(request, path, `has a line that is too long to be read (${number})`);
    lines = number;
    isNumbered ||= bytes.includes('"ordinal"') && numbered.test(bytes.toString("latin1"));
    const isWanted = request.isWanted?.(bytes.toString()) ?? true;
    const line = isWanted ? scrubLine(bytes, request.redactor) : undefined;
    if (line !== undefined && line.bytes !== bytes) {
      hitLines += 1;
      for (const kind of ["known", "named", "shaped"] as const) found[kind] += line.found[kind];
      if (hits.length < maxListed) hits.push({ line: number, found: line.found });
    }
    if (line?.keeps === true && kept.length < maxListed) kept.push(number);
    await write(line?.bytes ?? bytes);
    if (terminated) await write(newline);
  }
  return { file: basename(path), lines, found, hitLines, hits, isNumbered, kept };
}

function refused({ conversationId }: ScrubRequest, path: string, detail: string): FailureError {
  const message = `Conversation ${conversationId}: ${basename(path)} ${detail}`;
  return new FailureError({ code: "not_saved", message, retryable: false });
}

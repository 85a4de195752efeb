import { lstat, readdir, readFile, type FileHandle, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isUtf8 } from "node:buffer";
import { isRecord } from "../../base/is-record.js";
import { bareId } from "../../base/text/conversation-id.js";
import type { SecretKind, TextRedactor } from "../../base/text/redaction.js";
import { FailureError } from "../../messages/failure-error.js";
import { blobFolder } from "../file/blobs.js";
import { redactLine } from "../file/encode.js";
import { syncDirectory } from "../file/file-system.js";
import { readLineBytes, withoutMark, openRollout } from "../file/lines.js";
import { companionPath } from "../layout.js";
import { type RepairFiles, isUnchanged, writeReplacement } from "../file/replacement.js";
import { allLines } from "./repair-lines.js";

const nothing: ScrubbedLine["found"] = { known: 0, named: 0, shaped: 0 };

const carriageReturn = 0x0d;

const maxListed = 1_000;

/** Matches an ordinal beside the payload, not inside it. */
const numbered = /^\{(?:"\w+":(?:"[^"]*"|\d+),)*"ordinal":\d/;

const newline = Buffer.from("\n");

export interface ConversationScrub extends ScrubRequest {
  readonly path: string;
  /** Path of the index of names. */
  readonly names?: string | undefined;
}

/**
 * Searches every file that may contain text of a conversation: its rollout, the files beside it, and the name index.
 */
export async function findSecrets(scrub: ConversationScrub): Promise<FileScrub[]> {
  const found: FileScrub[] = [];
  for (const { path, request } of await filesOf(scrub)) found.push(await findSecretsInFile(path, request));
  for (const path of await blobsOf(scrub)) found.push(await findSecretsInBlob(path, scrub));
  return found;
}

/** Removes the secrets from these files. A blob that contains one is deleted as a whole. */
export async function scrubConversation(files: RepairFiles, scrub: ConversationScrub): Promise<FileScrub[]> {
  const temporary = companionPath(scrub.path, "scrub.tmp");
  const found: FileScrub[] = [];
  for (const { path, request } of await filesOf(scrub)) found.push(await scrubFile(files, path, temporary, request));
  for (const path of await blobsOf(scrub)) {
    const blob = await findSecretsInBlob(path, scrub);
    // Its name is the hash of its content, so it cannot be edited, and the model never saw it.
    if (blob.hitLines > 0) await files.remove(path);
    found.push(blob);
  }
  return found;
}

/** A blob can be any text, so it is searched as a whole. */
async function findSecretsInBlob(path: string, { redactor }: ConversationScrub): Promise<FileScrub> {
  const text = await readFile(path, "utf8");
  const found = { known: 0, named: 0, shaped: 0 };
  const redacted = redactor.redact(text, (kind) => (found[kind] += 1));
  const hitLines = redacted === text ? 0 : 1;
  return { file: basename(path), lines: 1, found, hitLines, hits: [], isNumbered: false, kept: [] };
}

async function blobsOf({ path }: ConversationScrub): Promise<string[]> {
  const folder = blobFolder(path);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.toSorted().map((name) => join(folder, name));
}

interface ScrubbedFile {
  readonly path: string;
  readonly request: ScrubRequest;
}

async function filesOf({ path, names, ...request }: ConversationScrub): Promise<ScrubbedFile[]> {
  const backups = (await readdir(dirname(path))).filter((name) => isBackup(name, path)).toSorted();
  const own = [path, ...backups.map((name) => join(dirname(path), name))].map((file) => ({ path: file, request }));
  const hasNames = names !== undefined && (await isFile(names));
  const id = bareId(request.conversationId);
  return hasNames ? [...own, { path: names, request: { ...request, isWanted: (line) => line.includes(id) } }] : own;
}

/** Matches torn lines and backups from repairs. */
function isBackup(name: string, path: string): boolean {
  return ["torn-", "backup-"].some((ending) => name.startsWith(basename(companionPath(path, ending))));
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** A line with secrets; it quotes nothing. */
interface ScrubHit {
  readonly line: number;
  readonly found: Readonly<Record<SecretKind, number>>;
}

export interface FileScrub {
  readonly file: string;
  readonly lines: number;
  readonly found: Readonly<Record<SecretKind, number>>;
  readonly hitLines: number;
  /** The first hits. */
  readonly hits: readonly ScrubHit[];
  /** Whether lines are numbered, so that other rollouts may refer to byte ranges of this file. */
  readonly isNumbered: boolean;
  /** Lines that keep a known secret in a place that must not be changed. */
  readonly kept: readonly number[];
}

interface ScrubRequest {
  readonly conversationId: string;
  readonly redactor: TextRedactor;
  /** The current user, because replacing another user's file would change its owner. */
  readonly uid: number;
  /** Selects the lines to search; all lines by default. */
  isWanted?(line: string): boolean;
}

/** Reports the secrets that scrubbing would remove from a file of lines. */
export async function findSecretsInFile(path: string, request: ScrubRequest): Promise<FileScrub> {
  const file = await openRollout(path, request.conversationId);
  try {
    return await scrubbed(file, path, request, async () => undefined);
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file of lines with a copy without secrets and keeps nothing of the old one. The caller must hold the
 * lock. The modification time stays the same, because the conversation was not continued.
 */
export async function scrubFile(
  files: RepairFiles,
  path: string,
  temporary: string,
  request: ScrubRequest,
): Promise<FileScrub> {
  const found = await findSecretsInFile(path, request);
  if (found.hitLines === 0) return found;
  if (found.isNumbered)
    throw refused(request, path, "has lines that other Codex files refer to by position, so it cannot be rewritten");
  const file = await openRollout(path, request.conversationId);
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
    // After a successful rename the file no longer exists.
    await files.remove(temporary).catch(() => undefined);
    await file.close();
  }
}

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
    if (bytes === undefined) throw refused(request, path, `has a line that is too long to read (line ${number})`);
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

/** The result for one line. */
interface ScrubbedLine {
  /** The line without its newline; the original bytes if nothing was found. */
  readonly bytes: Buffer;
  readonly found: Readonly<Record<SecretKind, number>>;
  /** Whether a known secret remains in a place that must not be changed: signed content, an id, or an image. */
  readonly keeps: boolean;
}

/** Redacts a line of any rollout. An invalid line is treated as plain text, so that damage hides no secrets. */
function scrubLine(bytes: Buffer, redactor: TextRedactor): ScrubbedLine {
  const body = withoutMark(bytes);
  const end = body.at(-1) === carriageReturn ? body.length - 1 : body.length;
  const [before, after] = [bytes.subarray(0, bytes.length - body.length), body.subarray(end)];
  const isLine = readLineBytes(body).status === "object";
  const encoding = isUtf8(body) ? "utf8" : "latin1";
  const text = body.toString(encoding, 0, end);
  if (isLine && !redactor.suspects(text)) return { bytes, found: nothing, keeps: false };
  const secrets = { known: new Set<string>(), named: new Set<string>(), shaped: new Set<string>() };
  const onSecret = (kind: SecretKind, value: string): void => void secrets[kind].add(value);
  const redacted = isLine ? redactJsonLine(text, redactor, onSecret) : redactor.redact(text, onSecret);
  const found = { known: secrets.known.size, named: secrets.named.size, shaped: secrets.shaped.size };
  let keeps = false;
  redactor.redactKnown(redacted, () => (keeps = true));
  if (redacted === text) return { bytes, found: nothing, keeps };
  return { bytes: Buffer.concat([before, Buffer.from(redacted, encoding), after]), found, keeps };
}

function redactJsonLine(text: string, redactor: TextRedactor, onSecret: (kind: SecretKind, value: string) => void) {
  const value = JSON.parse(text) as object;
  let count = 0;
  const redacted = redactLine(value, redactor, (kind, secret) => {
    count += 1;
    onSecret(kind, secret);
  });
  return redacted === value ? text : JSON.stringify(withCount(redacted, count));
}

/** Adds the number of redactions, as the writer does for redacted lines. */
function withCount(line: object, count: number): object {
  if (!isRecord(line) || !("payload" in line)) return line;
  const { payload, redacted, ...others } = line;
  return { ...others, redacted: count + (typeof redacted === "number" ? redacted : 0), payload };
}

import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../file/file-system.js";
import { withoutMark, openRollout } from "../file/lines.js";
import { isUnchanged, writeReplacement, type RepairFiles } from "../file/replacement.js";
import { companionPath } from "../layout.js";
import { allLines, type FileLine, judgeLine, type RecoveredLine, type LineVerdict } from "./repair-lines.js";
import { needsRepair, type RolloutLocation, type RolloutScan, scanFile } from "./repair-scan.js";
import { FailureError } from "../../messages/failure-error.js";

const newline = Buffer.from("\n");

const space = 0x20;

/** Limits blank lines, because the reader would reject one that is too long. */
const maxBlankBytes = 64 * 1024;

interface RepairRequest extends RolloutLocation {
  /** Used in the name of the backup. */
  readonly now: Date;
  /** The current user, because replacing another user's file would change its owner. */
  readonly uid: number;
}

interface RepairResult {
  readonly scan: RolloutScan;
  /** Path of the complete original; absent when nothing had to be repaired. */
  readonly backup: string | undefined;
}

const maxBackups = 1000;
const copyBytes = 1024 * 1024;

/**
 * Writes the readable part of a rollout to a new file that replaces it; the original stays under another name. The
 * caller must hold the lock, because a live writer would continue in the original.
 */
export async function repairRollout(files: RepairFiles, request: RepairRequest): Promise<RepairResult> {
  const { path, conversationId } = request;
  const file = await openRollout(path, conversationId);
  const temporary = companionPath(path, "repair.tmp");
  try {
    const before = await file.stat();
    if (before.uid !== request.uid) throw refused(request, "belongs to another user");
    const scan = await scanFile(file, request);
    if (!needsRepair(scan)) return { scan, backup: undefined };
    await writeRepaired(files, temporary, file, scan);
    if (!isUnchanged(before, await files.lstat(path)))
      throw refused(request, "was changed by another program meanwhile");
    return { scan, backup: await replace(files, temporary, request) };
  } finally {
    // After a successful rename the file no longer exists.
    await files.remove(temporary).catch(() => undefined);
    await file.close();
  }
}

async function writeRepaired(
  files: RepairFiles,
  temporary: string,
  from: FileHandle,
  scan: RolloutScan,
): Promise<void> {
  await writeReplacement(files, temporary, async (write) => {
    const text = new RepairedText(scan);
    for await (const line of allLines(from)) {
      text.add(line, judgeLine(line));
      if (text.waitingBytes >= copyBytes) await write(text.take());
    }
    await write(text.take());
  });
}

/**
 * Turns the original itself into the backup instead of copying it: this takes no space, and anything another program
 * still appends ends up in the backup.
 */
async function replace(files: RepairFiles, temporary: string, request: RepairRequest): Promise<string> {
  const { path } = request;
  const backup = await linkBackup(files, request);
  try {
    await files.chmod(backup, 0o600);
    await syncDirectory(files, dirname(path));
    await files.rename(temporary, path);
  } catch (error) {
    await files.remove(backup).catch(() => undefined);
    throw error;
  }
  try {
    await syncDirectory(files, dirname(path));
  } catch (error) {
    throw refused(
      request,
      `was replaced, but the change may be lost in a power failure; the original is ${backup}`,
      error,
    );
  }
  return backup;
}

async function linkBackup(files: RepairFiles, request: RepairRequest): Promise<string> {
  const name = companionPath(request.path, `backup-${request.now.toISOString().replaceAll(":", "-")}`);
  for (let number = 1; number <= maxBackups; number += 1) {
    const backup = number === 1 ? name : `${name}-${number}`;
    try {
      await files.link(request.path, backup);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw refused(request, `has more than ${maxBackups} backups with this timestamp`);
}

function refused({ conversationId }: RolloutLocation, detail: string, cause?: unknown): FailureError {
  const message = `Conversation ${conversationId}: its rollout ${detail}`;
  return new FailureError({ code: "not_saved", message, retryable: false }, { cause });
}

/** Builds the bytes of a repaired rollout line by line; the caller takes them in batches. */
class RepairedText {
  readonly #inPlace: boolean;
  readonly #hasNewFirst: boolean;
  #first: Buffer | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor({ inPlace, firstLine }: Pick<RolloutScan, "inPlace" | "firstLine">) {
    this.#inPlace = inPlace;
    this.#first = firstLine === undefined ? undefined : Buffer.from(firstLine);
    this.#hasNewFirst = firstLine !== undefined;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  take(): Buffer {
    this.#beginIfNeeded();
    const pending = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#bytes = 0;
    return pending;
  }

  add(line: FileLine, verdict: LineVerdict): void {
    if (line.number === 1 && verdict.status === "damaged" && this.#replaces(line, verdict.rescued)) return;
    this.#beginIfNeeded();
    if (verdict.status === "good") this.#writeLine(line);
    else if (this.#inPlace && line.terminated) this.#blank(line.length, verdict.rescued);
    else for (const { bytes } of verdict.rescued) this.#push(bytes, newline);
  }

  #beginIfNeeded(): void {
    if (this.#first !== undefined) this.#push(this.#first);
    this.#first = undefined;
  }

  /** Puts a new first line into the space of the damaged one, so that nothing after it moves. */
  #replaces({ length, terminated }: FileLine, rescued: readonly RecoveredLine[]): boolean {
    const first = this.#first;
    if (first === undefined || !this.#inPlace || !terminated || rescued.length > 0) return false;
    const room = length + newline.length - first.length;
    // A blank line follows the new line and uses the newline of the damaged one.
    if (room < newline.length) return false;
    this.#beginIfNeeded();
    this.#blank(room - newline.length, []);
    return true;
  }

  #writeLine({ number, bytes = Buffer.of() }: FileLine): void {
    // A byte order mark that is no longer at the start of the file would be damage.
    this.#push(number === 1 && this.#hasNewFirst ? withoutMark(bytes) : bytes, newline);
  }

  /** Writes exactly `length` bytes plus a newline: each rescued line at its old offset, with spaces around it. */
  #blank(length: number, rescued: readonly RecoveredLine[]): void {
    let at = 0;
    for (const [index, { start, bytes }] of rescued.entries()) {
      this.#writeSpaces(start - at);
      this.#push(bytes);
      at = start + bytes.length;
      const next = rescued[index + 1];
      if (next === undefined) continue;
      // The byte between two lines was their newline; if there is none, it was lost.
      this.#push(newline);
      if (next.start > at) at += newline.length;
    }
    this.#writeSpaces(length - at);
    this.#push(newline);
  }

  #writeSpaces(count: number): void {
    for (let left = count; left > 0; left -= maxBlankBytes) {
      if (left <= maxBlankBytes) this.#push(Buffer.alloc(left, space));
      else this.#push(Buffer.alloc(maxBlankBytes - newline.length, space), newline);
    }
  }

  #push(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.#waiting.push(part);
      this.#bytes += part.length;
    }
  }
}

import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { FailureError } from "../../messages/errors.js";
import { syncDirectory } from "../file/file-system.js";
import { besideRollout } from "../layout.js";
import { openRegularFile } from "../file/raw-lines.js";
import type { RepairFiles } from "./repair-files.js";
import { allLines } from "./repair-lines.js";
import { RepairedText } from "./repair-text.js";
import { needsRepair, type RolloutPlace, type RolloutScan, scanFile } from "./repair-scan.js";
import { judged } from "./repair-verdict.js";
import { isUnchanged, writeReplacement } from "../file/replacement.js";

export interface RepairRequest extends RolloutPlace {
  /** For the name of the backup. */
  readonly now: Date;
  /** Who repairs: only one's own files can be replaced by a file that is the same to everybody. */
  readonly uid: number;
}

export interface RepairResult {
  readonly scan: RolloutScan;
  /** The whole original; absent when there was nothing to do. */
  readonly backup: string | undefined;
}

const maxBackups = 1000;
const takenBytes = 1024 * 1024;

/**
 * Writes what can be read of a rollout to a new file and puts that in its place; the old one stays, under another name.
 * Only for who holds the lock: a live writer would go on in the old one.
 */
export async function repairRollout(files: RepairFiles, request: RepairRequest): Promise<RepairResult> {
  const { path, conversationId } = request;
  const file = await openRegularFile(path, conversationId);
  const temporary = besideRollout(path, "repair.tmp");
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
    // When all went well it is not there any more.
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
      text.add(line, judged(line));
      if (text.waitingBytes >= takenBytes) await write(text.take());
    }
    await write(text.take());
  });
}

/**
 * The original itself becomes the backup, not a copy: it takes no room, and what another program still appends to it
 * is in the backup.
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
    throw refused(request, `was replaced, but may not be after a power failure; the original is ${backup}`, error);
  }
  return backup;
}

async function linkBackup(files: RepairFiles, request: RepairRequest): Promise<string> {
  const name = besideRollout(request.path, `backup-${request.now.toISOString().replaceAll(":", "-")}`);
  for (let number = 1; number <= maxBackups; number += 1) {
    const backup = number === 1 ? name : `${name}-${number}`;
    try {
      await files.link(request.path, backup);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw refused(request, `has more than ${maxBackups} backups of this time`);
}

function refused({ conversationId }: RolloutPlace, detail: string, cause?: unknown): FailureError {
  const message = `Conversation ${conversationId}: its rollout ${detail}`;
  return new FailureError({ code: "not_saved", message, retryable: false }, { cause });
}

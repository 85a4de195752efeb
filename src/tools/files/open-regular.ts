import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { FileProblem, refuseSpecialFile } from "./file-problem.js";
import { refusePrivate } from "../policy/refuse-private.js";
import type { ToolScope } from "../tool.js";

/** System folders, whose files reveal this process's state, including its keys. */
const systemFolders = ["/proc", "/sys", "/dev"];

export interface OpenedFile {
  readonly file: FileHandle;
  readonly realPath: string;
  /** Taken before anything was read, so that a later change is detected. */
  readonly stats: BigIntStats;
}

/** Opens a regular file for reading; rejects for everything else, and never blocks. */
export async function openRegular(path: string, scope: Pick<ToolScope, "privatePaths">): Promise<OpenedFile> {
  // Checked before opening, because opening some devices has side effects.
  refuseSpecialFile(await stat(path));
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await file.stat({ bigint: true });
    refuseSpecialFile(stats);
    const realPath = await realPathOf(file, path);
    refuseSystemFile(realPath);
    await refusePrivate(realPath, scope);
    return { file, realPath, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function refuseSystemFile(realPath: string): void {
  if (systemFolders.some((folder) => realPath === folder || realPath.startsWith(`${folder}/`))) {
    throw new FileProblem("system files cannot be read");
  }
}

/** Resolves the opened file where the system supports it, because the path may lead elsewhere by now. */
async function realPathOf(file: FileHandle, path: string): Promise<string> {
  return await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
}

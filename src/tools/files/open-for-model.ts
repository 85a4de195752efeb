import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { NotRegularError, openRegular, realPathOf } from "../../base/fs/open-regular.js";
import { FileProblem, rejectSpecialFile } from "./file-problem.js";
import { refusePrivate } from "../policy/target-paths.js";
import type { ToolScope } from "../tool.js";

/** System folders, whose files reveal this process's state, including its keys. */
const systemFolders = ["/proc", "/sys", "/dev"];

interface OpenedFile {
  readonly file: FileHandle;
  readonly realPath: string;
  /** Taken before anything was read, so that a later change is detected. */
  readonly stats: BigIntStats;
}

/** Opens a regular file that the model may read; rejects for everything else, and never blocks. */
export async function openForModel(
  path: string,
  scope: Pick<ToolScope, "privatePaths" | "reading">,
): Promise<OpenedFile> {
  const { file } = await openRegular(path, { links: "follow" }).catch((error: unknown) => {
    if (error instanceof NotRegularError && error.stats !== undefined) rejectSpecialFile(error.stats);
    throw error;
  });
  try {
    const stats = await file.stat({ bigint: true });
    const realPath = await realPathOf(file, path);
    refuseSystemFile(realPath);
    await refusePrivate(realPath, scope);
    const problem = await scope.reading?.problem({ realPath, stats });
    if (problem !== undefined) throw new FileProblem(problem);
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

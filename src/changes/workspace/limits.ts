const megabyte = 1_000_000;

/** Limits of change tracking in a workspace. */
export interface WorkspaceLimits {
  /** A workspace with more files or directory entries is not tracked at all. */
  readonly maxFiles: number;
  readonly maxEntries: number;
  /** Maximum total size of the workspace's files. */
  readonly maxBytes: number;
  /** For larger files only the fact that they changed is recorded. */
  readonly maxFileBytes: number;
}

export const defaultLimits: WorkspaceLimits = {
  maxFiles: 20_000,
  maxEntries: 100_000,
  maxBytes: 200 * megabyte,
  maxFileBytes: 8 * megabyte,
};

/** Explains to the user why a workspace is not tracked. */
export class UntrackedError extends Error {
  override readonly name = "UntrackedError";
}

export function tooManyFiles({ maxFiles, maxEntries }: WorkspaceLimits, files: number): UntrackedError {
  const most = files > maxFiles ? `${maxFiles} files` : `${maxEntries} files and folders`;
  return new UntrackedError(`the folder has more than ${most} that git does not ignore`);
}

export function tooManyBytes({ maxBytes }: WorkspaceLimits): UntrackedError {
  return new UntrackedError(
    `the files of the folder that git does not ignore are larger than ${maxBytes / megabyte} MB`,
  );
}

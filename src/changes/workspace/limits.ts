const megabyte = 1_000_000;

/** What of a workspace is tracked. */
export interface WorkspaceLimits {
  /** With more files, or more to look at on the way to them, it is not tracked at all. */
  readonly maxFiles: number;
  readonly maxEntries: number;
  /** All of its files together. */
  readonly maxBytes: number;
  /** Of a larger file it is only known whether it has changed. */
  readonly maxFileBytes: number;
}

export const defaultLimits: WorkspaceLimits = {
  maxFiles: 20_000,
  maxEntries: 100_000,
  maxBytes: 200 * megabyte,
  maxFileBytes: 8 * megabyte,
};

/** Why a workspace is not tracked, for a person. */
export class UntrackedError extends Error {
  override readonly name = "UntrackedError";
}

export function tooManyFiles({ maxFiles, maxEntries }: WorkspaceLimits, files: number): UntrackedError {
  const most = files > maxFiles ? `${maxFiles} files` : `${maxEntries} files and folders`;
  return new UntrackedError(`the folder has more than ${most} that git does not ignore`);
}

export function tooManyBytes({ maxBytes }: WorkspaceLimits): UntrackedError {
  return new UntrackedError(`the files of the folder that git does not ignore are more than ${maxBytes / megabyte} MB`);
}

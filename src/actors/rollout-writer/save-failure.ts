import { systemCode, systemReason } from "../../base/system-error.js";

/** A problem with the file that has no errno; the message is for people. */
export class RolloutFileError extends Error {
  override readonly name = "RolloutFileError";
}

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOSPC: "disk full",
  EDQUOT: "disk quota exceeded",
  EFBIG: "the file would be too large",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  EIO: "input/output error",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  ENOENT: "the file or its directory does not exist",
  ENOTDIR: "part of its path is a file, not a directory",
  EEXIST: "a conversation with this id already exists",
  ELOOP: "not a regular file",
  ENXIO: "not a regular file",
  EISDIR: "not a regular file",
};

/** Describes in a few words, without a path, why something could not be saved. */
export function saveFailureReason(error: unknown): string {
  if (error instanceof RolloutFileError) return error.message;
  const code = systemCode(error);
  return code === undefined ? "unexpected error" : (reasonsByCode[code] ?? systemReason(error));
}

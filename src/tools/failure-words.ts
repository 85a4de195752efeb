import { systemCode } from "../messages/system-error.js";
import { FileProblem } from "./file-problem.js";

const words: Readonly<Record<string, string>> = {
  E2BIG: "the arguments are too long for the system",
  EACCES: "permission denied",
  EAGAIN: "too many processes",
  EDQUOT: "disk quota exceeded",
  EFBIG: "the file would be too large",
  EIO: "input/output error",
  EISDIR: "it is a folder",
  ELOOP: "too many symbolic links, or one that may not be followed",
  EMFILE: "too many open files",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "too many open files",
  ENOENT: "it does not exist",
  ENOMEM: "not enough memory",
  ENOSPC: "disk full",
  ENOTDIR: "something that is no folder stands in the path",
  ENXIO: "it is a socket or a pipe nobody listens to",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
};

/** Why something was not done, in a few words for the model. What is neither ours nor the system's is a bug and thrown on. */
export function failureWords(error: unknown): string {
  if (error instanceof FileProblem) return error.message;
  const code = systemCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  return words[code] ?? code;
}

import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, isAbsolute } from "node:path";
import { getSystemErrorMap } from "node:util";
import { quotedWord } from "./text/quoted-command.js";

/** Errno values that Node does not name. */
const unnamed: ReadonlyMap<number, string> = new Map([[-constants.errno.EDQUOT, "EDQUOT"]]);

const refusals: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/** The name of a system error, such as `ENOSPC`; undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return unnamed.get(errno ?? 0) ?? code;
}

/** Plain descriptions of the common system errors. */
const words: Readonly<Record<string, string>> = {
  E2BIG: "the arguments are too long for the system",
  EACCES: "permission denied",
  EADDRINUSE: "the address is in use",
  EAGAIN: "too many processes",
  EDQUOT: "disk quota exceeded",
  EFBIG: "the file would be too large",
  EIO: "input/output error",
  EISDIR: "it is a folder",
  ELOOP: "too many symbolic links, or a link that cannot be followed",
  EMFILE: "too many open files",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "too many open files",
  ENOENT: "it does not exist",
  ENOMEM: "not enough memory",
  ENOSPC: "disk full",
  ENOTDIR: "a part of the path is not a folder",
  ENXIO: "it is a socket or a pipe without a reader",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
};

/** A short description of why the system refused an operation. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  const { errno = 0 } = Object(error) as Partial<NodeJS.ErrnoException>;
  return words[code ?? ""] ?? getSystemErrorMap().get(errno)?.[1] ?? code ?? "unknown error";
}

const verbs: Readonly<Record<string, string>> = {
  copyfile: "copy",
  fdatasync: "write",
  fsync: "write",
  ftruncate: "write",
  link: "create",
  rename: "write",
  symlink: "create",
  truncate: "write",
  utime: "write",
  write: "write",
  writev: "write",
  chmod: "change the permissions of",
  connect: "connect to",
  getaddrinfo: "find",
  listen: "listen on",
  mkdir: "create the folder",
  mkdtemp: "create a folder in",
  open: "open",
  read: "read",
  readlink: "read",
  lstat: "read",
  opendir: "read the folder",
  rmdir: "delete",
  scandir: "read the folder",
  stat: "read",
  unlink: "delete",
};

const permissions = (path = ""): string | undefined =>
  path === "" ? undefined : `Check its owner and permissions: ls -ld ${quotedWord(path)}`;
const space = (): string => "Free some space and try again";
const hints: Readonly<Record<string, (path?: string) => string | undefined>> = {
  EACCES: permissions,
  EPERM: permissions,
  EDQUOT: space,
  ENOSPC: space,
  EROFS: () => "Use a folder that can be written: set CODY_HOME or pass --home",
  ENOTDIR: () => "Rename the file that is in the way, or use another path",
};

interface NetworkPlace {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/** Describes a failed system call and a hint for fixing it; undefined for other errors. */
export function systemProblem(error: unknown): { readonly message: string; readonly hint?: string } | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  const { syscall = "", path, address, hostname, port } = error as NodeJS.ErrnoException & NetworkPlace;
  // A file that does not exist cannot have caused a permission error, and may be temporary: blame its folder.
  const isHidden =
    syscall === "open" &&
    path !== undefined &&
    isAbsolute(path) &&
    refusals.has(systemCode(error) ?? "") &&
    !existsSync(path);
  const shownPath = isHidden ? dirname(path) : path;
  const place = shownPath ?? hostname ?? (address === undefined ? undefined : [address, port].join(":"));
  const verb = syscall.startsWith("spawn") ? "run" : isHidden ? "access" : (verbs[syscall] ?? "access");
  const what = `${verb}${place === undefined ? "" : ` ${place}`}`;
  const hint = hints[systemCode(error) ?? ""]?.(shownPath);
  return { message: `Cannot ${what}: ${systemReason(error)}`, ...(hint === undefined ? {} : { hint }) };
}

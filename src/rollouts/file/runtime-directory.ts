import { chmod, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";

/** Stays below 107 bytes, at which Node silently truncates socket paths. */
const maxSocketPathBytes = 100;
const tokenChars = 16;
const maxPidChars = 10;
const longestName = "x".repeat(maxPidChars + ".".length + tokenChars + ".sock".length);

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the directory for sockets. Only we may write to it: anyone else could impersonate the owner of a lock. */
export async function runtimeDirectory(env: Environment, uid: number = ownUid()): Promise<string> {
  return ownDirectory(await runtimePlace(env, uid), uid);
}

/** Returns the directory used by processes with another environment, if it is ours and differs from this one. */
export async function otherRuntimeDirectory(directory: string, uid: number = ownUid()): Promise<string | undefined> {
  const fallback = fallbackPlace(uid);
  return fallback !== directory && (await isOwnDirectory(fallback, uid)) ? fallback : undefined;
}

/**
 * Returns `$XDG_RUNTIME_DIR/cody`, or `/tmp/cody-<uid>` if that is unset, not ours or too long. It may not exist yet.
 */
export async function runtimePlace(env: Environment, uid: number): Promise<string> {
  const base = env["XDG_RUNTIME_DIR"];
  if (base !== undefined && (await isOwnDirectory(base, uid))) {
    const directory = join(base, "cody");
    if (fits(directory)) return directory;
  }
  return fallbackPlace(uid);
}

function fallbackPlace(uid: number): string {
  return join("/tmp", `cody-${uid}`);
}

/** Builds a socket path. The pid in the name lets later processes check whether the listener has ended. */
export function socketPath(directory: string, token: string): string {
  const path = join(directory, `${process.pid}.${token.slice(0, tokenChars)}.sock`);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  throw new InvalidInputError(
    `the path of the runtime directory is too long: a socket's path can have ${maxSocketPathBytes} bytes`,
  );
}

/** Returns the pid in a socket's name; sockets of older versions have none. */
export function socketPid(name: string): number | undefined {
  const digits = /^([1-9]\d{0,9})\./.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether a path is absolute and short enough to be used as a socket unchanged. */
export function isSocketPath(path: string): boolean {
  return path.startsWith("/") && !path.includes("\0") && Buffer.byteLength(path) <= maxSocketPathBytes;
}

/** Creates the directory and rejects one that belongs to another user. */
export async function ownDirectory(directory: string, uid: number = ownUid()): Promise<string> {
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  if (!(await isOwnDirectory(directory, uid))) {
    throw new InvalidInputError(`the runtime directory ${directory} does not belong to this user`);
  }
  // Sets the mode explicitly: the umask may have removed bits, and an older program may have left it open.
  await chmod(directory, 0o700);
  return directory;
}

async function isOwnDirectory(path: string, uid: number): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && stats.isDirectory() && stats.uid === uid;
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, longestName)) <= maxSocketPathBytes;
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

import { chmod, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";

/** Node cuts longer socket paths off at 107 bytes without a word. */
const maxSocketPathBytes = 100;
const tokenChars = 16;
const maxPidChars = 10;
const longestName = "x".repeat(maxPidChars + ".".length + tokenChars + ".sock".length);

type Environment = Readonly<Record<string, string | undefined>>;

/** Where sockets live. The directory is ours alone: whoever could write to it could play the owner of a lock. */
export async function runtimeDirectory(env: Environment, uid: number = ownUid()): Promise<string> {
  return ownDirectory(await runtimePlace(env, uid), uid);
}

/** Where processes with another environment have their sockets, if that is another directory of ours. */
export async function otherRuntimeDirectory(directory: string, uid: number = ownUid()): Promise<string | undefined> {
  const fallback = fallbackPlace(uid);
  return fallback !== directory && (await isOwnDirectory(fallback, uid)) ? fallback : undefined;
}

/** `$XDG_RUNTIME_DIR/cody`, or `/tmp/cody-<uid>` when that is not set, not ours or too long; it need not be there. */
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

/** The pid in the name tells later processes whether the one that listened has ended. */
export function socketPath(directory: string, token: string): string {
  const path = join(directory, `${process.pid}.${token.slice(0, tokenChars)}.sock`);
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  throw new InvalidInputError(
    `the runtime directory has too long a name: sockets may have ${maxSocketPathBytes} bytes`,
  );
}

/** The pid in the name of a socket; sockets of older versions have none. */
export function socketPid(name: string): number | undefined {
  const digits = /^([1-9]\d{0,9})\./.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether a socket with this path can be reached as it is written. */
export function isSocketPath(path: string): boolean {
  return path.startsWith("/") && !path.includes("\0") && Buffer.byteLength(path) <= maxSocketPathBytes;
}

/** Makes the directory, and refuses one that others could have made. */
export async function ownDirectory(directory: string, uid: number = ownUid()): Promise<string> {
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  if (!(await isOwnDirectory(directory, uid))) {
    throw new InvalidInputError(`the runtime directory ${directory} is not a directory of this user`);
  }
  // Set, not only asked for: the umask may have taken bits away, and an older program may have left it open.
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

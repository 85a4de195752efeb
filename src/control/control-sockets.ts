import { randomBytes } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isStaleSocket } from "../rollouts/file/lock.js";
import {
  otherRuntimeDirectory,
  ownDirectory,
  runtimeDirectory,
  runtimePlace,
  socketPath,
} from "../rollouts/file/runtime-directory.js";

/** The part of a socket's name that tells it from the sockets of locks. */
const mark = "control-";

/** Further sockets are ignored. */
const maxSockets = 1_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the path of a new control socket of this process, in a folder that only this user can enter. */
export async function newControlSocket(env: Environment): Promise<string> {
  return socketPath(await runtimeDirectory(env), mark + randomBytes(4).toString("hex"));
}

/** Finds the control sockets of this user's processes, and removes those whose process has ended. */
export async function findControlSockets(env: Environment): Promise<string[]> {
  const uid = process.getuid?.() ?? 0;
  const own = await runtimePlace(env, uid);
  const other = await otherRuntimeDirectory(own, uid);
  const found: string[] = [];
  for (const directory of other === undefined ? [own] : [own, other]) {
    if ((await lstat(directory).catch(() => undefined)) === undefined) continue;
    await ownDirectory(directory, uid);
    const names = (await readdir(directory)).filter((name) => name.includes(`.${mark}`) && name.endsWith(".sock"));
    for (const name of names.slice(0, maxSockets - found.length)) {
      const path = join(directory, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined || !stats.isSocket() || stats.uid !== uid) continue;
      if (await isStaleSocket(path, Date.now()).catch(() => false)) await rm(path, { force: true });
      else found.push(path);
    }
  }
  return found;
}

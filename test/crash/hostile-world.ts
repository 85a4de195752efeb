import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import type { Swap } from "./path-swapper.js";

/** The text of files inside and outside, so that a patch for one fits the other. */
export const victimText = "first\nline\nlast\n";

/** A writable folder full of ways out of it, and an outside folder that must not change. */
export interface HostileWorld {
  readonly workspace: string;
  readonly outside: string;
  /** Paths that are swapped for links that lead outside. */
  readonly swaps: readonly Swap[];
}

export async function hostileWorld(): Promise<HostileWorld> {
  const [workspace, outside] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(outside, "inner"));
  for (const name of ["victim", "inner/victim", "swapped-file"]) await writeFile(join(outside, name), victimText);
  const links: Readonly<Record<string, string>> = {
    "link-file": join(outside, "victim"),
    "link-folder": outside,
    "link-inner": join(outside, "inner"),
    "link-up": "..",
    "link-inside": "folder",
    "link-root": "/",
    "link-process": "/proc/self/fd",
    "link-current": "/proc/self/cwd",
    dangling: join(outside, "missing"),
    "dangling-folder": join(outside, "missing/deep"),
    loop: "loop",
    "link-link": "link-folder",
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(workspace, name));
  execFileSync("mkfifo", [join(workspace, "pipe"), join(outside, "pipe")]);
  await symlink(join(outside, "pipe"), join(workspace, "link-pipe"));
  await listenAt(join(workspace, "socket"));
  makeDevice(join(workspace, "device"));
  await restock({ workspace, outside, swaps: [] });
  const swaps: readonly Swap[] = [
    { path: join(workspace, "swapped"), outside, isFolder: true },
    { path: join(workspace, "folder/swapped"), outside, isFolder: true },
    { path: join(workspace, "swapped-file"), outside: join(outside, "swapped-file"), isFolder: false },
  ];
  return { workspace, outside, swaps };
}

/** Restores what patches have used up; the swapper takes care of the swapped paths. */
export async function restock({ workspace }: HostileWorld): Promise<void> {
  await mkdir(join(workspace, "folder")).catch(() => undefined);
  for (const name of ["plain", "folder/victim"]) {
    await writeFile(join(workspace, name), victimText, { flag: "wx" }).catch(() => undefined);
  }
}

/** Every entry of a folder and its modification time: creating and removing a file changes its folder's time. */
export async function snapshot(folder: string): Promise<Record<string, string>> {
  const names = ["", ...(await readdir(folder, { recursive: true }))];
  const entries = names.map(async (name) => {
    const path = join(folder, name);
    const stats = await lstat(path, { bigint: true });
    const content = stats.isFile() ? await readFile(path, "utf8") : "";
    return [name, `${stats.mode} ${stats.mtimeNs} ${content}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

export function outsideName({ outside }: HostileWorld): string {
  return basename(outside);
}

async function listenAt(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** Creates a device file, which only root can do. */
function makeDevice(path: string): void {
  try {
    execFileSync("mknod", [path, "c", "1", "3"], { stdio: "ignore" });
  } catch {
    // Not root: there is no device to be written to.
  }
}

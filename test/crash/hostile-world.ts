import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";
import type { Swap } from "./path-swapper.js";

/** What stands in files on both sides, so that a patch for the one fits the other. */
export const victimText = "first\nline\nlast\n";

/** A folder that may be written in, full of ways out of it, and what must stay as it is. */
export interface HostileWorld {
  readonly workspace: string;
  readonly outside: string;
  /** What is swapped for links that lead outside. */
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

/** What patches have used up is there again; of what is swapped, who swaps it takes care. */
export async function restock({ workspace }: HostileWorld): Promise<void> {
  await mkdir(join(workspace, "folder")).catch(() => undefined);
  for (const name of ["plain", "folder/victim"]) {
    await writeFile(join(workspace, name), victimText, { flag: "wx" }).catch(() => undefined);
  }
}

/** Everything in a folder, and when each was changed: a file that was made and removed again has changed its folder. */
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

/** Only root may make one. */
function makeDevice(path: string): void {
  try {
    execFileSync("mknod", [path, "c", "1", "3"], { stdio: "ignore" });
  } catch {
    // Then there is none to be written to.
  }
}

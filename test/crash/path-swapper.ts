import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sendReport } from "./report.js";

export interface Swap {
  readonly path: string;
  /** The target of the link. */
  readonly outside: string;
  readonly isFolder: boolean;
}

// Swaps paths for symbolic links that lead outside, and back, as fast as it can, until it is killed.
const swaps = JSON.parse(process.argv[2] ?? "") as readonly Swap[];
const clock = new Int32Array(new SharedArrayBuffer(4));
for (let round = 0; ; round += 1) {
  for (const swap of swaps) {
    makeAnew(swap);
    swapAndBack(swap);
  }
  if (round === 0) sendReport({ type: "swapping" });
  // Pause in every other round, so that some edits succeed.
  if (round % 2 === 0) Atomics.wait(clock, 0, 0, 3);
}

/** Creates the path again, because an edit may have removed it or a part of it. */
function makeAnew({ path, isFolder }: Swap): void {
  if (isFolder) for (const folder of [path, join(path, "inner")]) attempt(() => mkdirSync(folder));
  const files = isFolder ? [join(path, "victim"), join(path, "inner/victim")] : [path];
  for (const file of files) attempt(() => writeFileSync(file, "first\nline\nlast\n", { flag: "wx" }));
}

function swapAndBack({ path, outside }: Swap): void {
  const kept = `${path}-kept`;
  attempt(() => renameSync(path, kept));
  // An edit may have created something at the path meanwhile: then that stays, and there is no link. Or it removed the
  // link.
  if (attempt(() => symlinkSync(outside, path))) attempt(() => rmSync(path));
  if (!attempt(() => renameSync(kept, path))) rmSync(kept, { recursive: true, force: true });
}

function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

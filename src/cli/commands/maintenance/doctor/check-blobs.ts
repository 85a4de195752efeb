import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { blobHash, isBlobName } from "../../../../rollouts/file/blobs.js";
import { idOfName } from "../../../../rollouts/layout.js";
import { checkRights } from "./check-rights.js";
import type { Look } from "./check-entry.js";
import type { StoreFinding } from "./finding.js";
import { isLeftTemporary } from "./left-temporary.js";

/** What is wrong with the contents that are kept beside a rollout, in the folder `beside` says. */
export async function checkBlobs(
  folder: string,
  look: Look,
  beside: (rolloutPath: string) => string,
): Promise<StoreFinding[]> {
  const names = (await readdir(folder)).toSorted();
  const findings: StoreFinding[] = [];
  for (const name of names) {
    look.signal.throwIfAborted();
    const path = join(folder, name);
    const stats = await lstat(path);
    if (!stats.isFile()) continue;
    findings.push(...checkRights({ path, stats, uid: look.uid, ownership: look.files }));
    if (isBlobName(name)) {
      if (blobHash(await readFile(path)) !== name) findings.push({ kind: "changed_blob", path });
    } else if (name.endsWith(".tmp") && isLeftTemporary(stats, look.now)) findings.push({ kind: "temporary", path });
  }
  return (await hasRollout(folder, beside)) || names.length === 0
    ? findings
    : [...findings, { kind: "orphaned_blobs", path: folder, blobs: names.length }];
}

async function hasRollout(folder: string, beside: (rolloutPath: string) => string): Promise<boolean> {
  const rollouts = (await readdir(dirname(folder))).filter((name) => idOfName(name) !== undefined);
  return rollouts.some((name) => basename(beside(join(dirname(folder), name))) === basename(folder));
}

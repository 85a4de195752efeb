import type { KeptFile, KeptVersion } from "../../messages/tools/change-record.js";
import type { FileVersion } from "../changed-file.js";
import { TurnDiffTracker } from "../turn-diff-tracker.js";
import { ContentStore } from "./content-store.js";

/** Records changed files with their contents from these folders. A file with a missing content is left out. */
export function diffChanges(
  { files, folders }: { readonly files: readonly KeptFile[]; readonly folders: readonly string[] },
  tracker = new TurnDiffTracker(),
): TurnDiffTracker {
  const stores = folders.map((folder) => new ContentStore(folder));
  for (const { path, before, after } of files) {
    const [old, now] = [before && loaded(stores, before), after && loaded(stores, after)];
    if (old === undefined || now === undefined) continue;
    tracker.record({ path, before: old ?? undefined, after: now ?? undefined });
  }
  return tracker;
}

function loaded(stores: readonly ContentStore[], { mode, sha256 }: KeptVersion): FileVersion | undefined {
  const [bytes] = stores.flatMap((store) => store.get(sha256) ?? []);
  return bytes && { mode, bytes };
}

import { besideRollout } from "./layout.js";

/** Where it is kept what the turns of a conversation changed. It goes wherever the rollout goes. */
export function snapshotFolder(rolloutPath: string): string {
  return besideRollout(rolloutPath, "snapshots");
}

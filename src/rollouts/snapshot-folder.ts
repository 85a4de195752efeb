import { companionPath } from "./layout.js";

/** Returns the folder with the changes made by a conversation's turns. It is moved together with the rollout. */
export function snapshotFolder(rolloutPath: string): string {
  return companionPath(rolloutPath, "snapshots");
}

import type { SnapshotPlaces } from "../../../changes/workspace/snapshot.js";
import { homePaths } from "../../../config/paths.js";
import type { ConversationPlaces } from "../../../config/places.js";
import { snapshotFolder } from "../../../rollouts/snapshot-folder.js";

/** Returns the directories for the file snapshots of one conversation's turns. */
export function snapshotPlaces(
  { home, directory, codexHome }: ConversationPlaces,
  rolloutPath: string,
  { maxBytes, secrets, gitUser }: Pick<SnapshotPlaces, "maxBytes" | "secrets" | "gitUser">,
): SnapshotPlaces {
  return {
    workspaces: homePaths(home).workspaces,
    folder: snapshotFolder(rolloutPath),
    outside: [home, directory, ...(codexHome === undefined ? [] : [codexHome])],
    maxBytes,
    secrets,
    ...(gitUser && { gitUser }),
  };
}

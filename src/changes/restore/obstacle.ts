/** Reason why a file is not restored. */
export type Obstacle =
  /** The file was changed after the change that is to be undone. */
  | "changed"
  /** The earlier content is no longer stored. */
  | "not_kept"
  /** Something else exists at the path or at one of its parents. */
  | "blocked"
  /** The root folder of the change no longer exists or was replaced. */
  | "no_root";

/** Tells the user that a folder created by the change cannot be removed. */
export const folderNotEmptyText = "kept, because it contains other files";

/** Explains each obstacle to the user. */
export const obstacleTexts = {
  changed: "has changed since",
  not_kept: "its saved content is gone",
  blocked: "something else exists at this path",
  no_root: "its project folder no longer exists",
} satisfies Record<Obstacle, string>;

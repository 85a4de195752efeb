/** Why a file is left as it is. */
export type Obstacle =
  /** It is not what the change made of it: somebody has changed it since. */
  | "changed"
  /** What it was is not there any more. */
  | "not_kept"
  /** Something else stands in its place, or on the way to it. */
  | "blocked"
  /** The folder all of it happened in is not there any more, or is another. */
  | "no_root";

/** Of a folder that the change made and that cannot go; for a person. */
export const stayingWords = "stays, because there is more in it";

/** For a person. */
export const obstacleWords = {
  changed: "has changed since",
  not_kept: "what it was is not there any more",
  blocked: "something else stands in its place",
  no_root: "the folder it was in is not there any more",
} satisfies Record<Obstacle, string>;

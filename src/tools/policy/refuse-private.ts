import { FileProblem } from "../files/file-problem.js";
import { resolveTarget } from "./real-target.js";
import type { ToolScope } from "../tool.js";

/** Rejects paths to tokens and keys, through whichever links they were reached. */
export async function refusePrivate(realPath: string, scope: Pick<ToolScope, "privatePaths">): Promise<void> {
  const known = await realPrivatePaths(scope);
  // A path followed by a dot and a suffix is a lock, a copy or a temporary file.
  if (known.some((path) => realPath === path || [`${path}/`, `${path}.`].some((start) => realPath.startsWith(start)))) {
    throw new FileProblem("tools cannot access tokens, keys and settings of cody and other programs");
  }
}

/** Resolved on each call: a home or a configuration may be a link to another place. */
export async function realPrivatePaths({ privatePaths }: Pick<ToolScope, "privatePaths">): Promise<string[]> {
  return await Promise.all(privatePaths.map((path) => resolveTarget(path).catch(() => path)));
}

import { FileProblem } from "../files/file-problem.js";
import { realTarget } from "./real-target.js";
import type { ToolScope } from "../tool.js";

/** Rejects for what lies where tokens and keys are kept, whatever path leads there. */
export async function refusePrivate(realPath: string, scope: Pick<ToolScope, "privatePaths">): Promise<void> {
  const known = await realPrivatePaths(scope);
  // Behind a dot stand locks, copies and what is just being written in a file's place.
  if (known.some((path) => realPath === path || [`${path}/`, `${path}.`].some((start) => realPath.startsWith(start)))) {
    throw new FileProblem("tokens, keys and settings of cody and of other programs are not for tools");
  }
}

/** As they are now: a home or a configuration may be a link to where somebody keeps it. */
export async function realPrivatePaths({ privatePaths }: Pick<ToolScope, "privatePaths">): Promise<string[]> {
  return await Promise.all(privatePaths.map((path) => realTarget(path).catch(() => path)));
}

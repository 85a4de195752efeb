import { join } from "node:path";
import { defaultLimits, UntrackedError } from "../../../../changes/workspace/limits.js";
import { leftoverKind } from "../../../../changes/workspace/sweep-stray.js";
import { walk } from "../../../../changes/workspace/walk.js";
import type { StoreFinding } from "./finding.js";

/** Finds temporary files that a dead process left while it replaced a file of this folder. */
export function checkWorkspace(root: string, outside: readonly string[], now: number): StoreFinding[] {
  const findings: StoreFinding[] = [];
  const onStray = (name: string): void => {
    const path = join(root, name);
    const left = leftoverKind(path, now);
    if (left !== undefined) findings.push({ kind: left === "litter" ? "temporary" : "last_copy", path });
  };
  try {
    walk({ root, outside, limits: { ...defaultLimits, maxBytes: Number.POSITIVE_INFINITY }, secrets: [], onStray });
  } catch (error) {
    // In a folder with too many files only the first ones are checked.
    if (!(error instanceof UntrackedError)) throw error;
  }
  return findings;
}

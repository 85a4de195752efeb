import type { LineObject } from "../../../rollouts/file/line-object.js";
import { isPassing, isShownLine, type LineUse, lineUse } from "./line-use.js";

export interface SizedLine {
  readonly value: LineObject;
  readonly bytes: number;
}

export interface Condensed {
  readonly lines: readonly SizedLine[];
  /** Lines that the history no longer needs and the transcript does. */
  readonly shown: readonly SizedLine[];
  /** Whether lines were left out. */
  readonly replaced: boolean;
}

/**
 * Leaves only lines of a stretch that matter: `apply` makes of them what it makes of all, when they are what they look
 * like. `replacedBehind`: the history is replaced as a whole behind the stretch.
 */
export function condensed(lines: readonly SizedLine[], replacedBehind: boolean): Condensed {
  const newestFirst: SizedLine[] = [];
  const shown: SizedLine[] = [];
  const newer = new Set<LineUse>();
  let replaced = replacedBehind;
  for (const line of lines.toReversed()) {
    const use = lineUse(line.value);
    const isOutdone = isPassing(line.value) || (use !== "kept" && newer.has(use));
    // Since the history was replaced all are kept: how many are not understood is counted by who checks them.
    if (!replaced || !isOutdone) newestFirst.push(line);
    else if (isShownLine(line.value)) shown.push(line);
    newer.add(use);
    if (use === "replaces") replaced = true;
  }
  return { lines: newestFirst.toReversed(), shown: shown.toReversed(), replaced };
}

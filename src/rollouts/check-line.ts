import { withCodexItems } from "../messages/codex-parts.js";
import { RolloutLine, type OwnLine } from "../messages/rollout-line.js";
import { holdsUnknown, isBesideHistory } from "./known-types.js";
import type { LineObject } from "./line-object.js";

export interface CheckedLine {
  /** Absent when its type or its shape is not known. */
  readonly line: OwnLine | undefined;
  /** Whether nothing is missed when it is passed over, or when what we know of it is taken for all. */
  readonly isUnderstood: boolean;
}

const knownLine = RolloutLine.options[0];

export function checkLine(value: LineObject): CheckedLine {
  const known = [value, withCodexItems(value)].find((line) => knownLine.safeParse(line).success);
  if (known === undefined) return { line: undefined, isUnderstood: isBesideHistory(value) };
  // The value itself, not zod's copy: keys of a newer version stay.
  return { line: known as OwnLine, isUnderstood: !holdsUnknown(value) };
}

import { CorruptedRolloutError } from "../../src/base/errors.js";
import type { OwnLine } from "../../src/messages/rollout-line.js";
import { readRollout } from "../../src/rollouts/file/read.js";

/** The lines that the product reads from a rollout, up to its end or to the first damaged line. */
export interface RolloutReading {
  readonly lines: OwnLine[];
  readonly tornBytes: number;
  readonly damagedLine: number | undefined;
}

export async function readLines(path: string, conversationId: string): Promise<RolloutReading> {
  const reading = readRollout(path, conversationId);
  const lines: OwnLine[] = [];
  try {
    for await (const { line } of reading) lines.push(line);
  } catch (error) {
    if (!(error instanceof CorruptedRolloutError)) throw error;
    return { lines, tornBytes: 0, damagedLine: error.line };
  }
  return { lines, tornBytes: reading.end.torn, damagedLine: undefined };
}

import type { RolloutPart } from "../../../rollouts/file/history-base.js";
import type { RolloutStretch } from "../../../workers/cpu-jobs.js";

export interface LargeRollout {
  readonly path: string;
  readonly conversationId: string;
  readonly bytes: number;
  /** What a thread reads at a time: so much, and not the file, bounds the memory it takes. */
  readonly stretchBytes?: number;
}

const defaultStretchBytes = 4 * 1024 * 1024;

/** The transcript is read from this many bytes at the end of a file: only its newest messages are shown. */
const shownBytes = 16 * 1024 * 1024;

/**
 * A conversation in the order it is read: what it has from other rollouts, then its own, in which the history is replaced
 * behind `replacedAt`.
 */
export function* stretchesOf(
  rollout: LargeRollout,
  parts: readonly RolloutPart[],
  replacedAt: number,
): Generator<RolloutStretch> {
  const { path, conversationId, bytes, stretchBytes = defaultStretchBytes } = rollout;
  for (const part of parts) {
    for (const range of rangesOf(part.bytes, stretchBytes)) {
      const shows = bytes < shownBytes && range.before > part.bytes - shownBytes;
      yield { path: part.path, conversationId, range, beginning: part.bytes, replaced: true, shows };
    }
  }
  for (const range of rangesOf(bytes, stretchBytes)) {
    yield {
      path,
      conversationId,
      range,
      replaced: range.before <= replacedAt,
      shows: range.before > bytes - shownBytes,
    };
  }
}

function* rangesOf(bytes: number, stretchBytes: number): Generator<RolloutStretch["range"]> {
  for (let from = 0; from < bytes; from += stretchBytes) {
    // A file may have grown meanwhile: the last one goes to its end, wherever that is.
    const before = from + stretchBytes < bytes ? from + stretchBytes : Number.POSITIVE_INFINITY;
    yield { from, before };
  }
}

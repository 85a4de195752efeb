import { encodingOf } from "../compaction/tokens/encoding-of.js";
import { splitText } from "../compaction/tokens/split-text.js";
import type { JobOutcome } from "./job.js";
import type { CpuPool } from "./open-cpu-pool.js";

/** Sending this much takes a fraction of a millisecond, counting its tokens about fifty. */
const maxJobChars = 256 * 1024;
/** Concurrent jobs of one count: enough for every thread, and jobs of others can run in between. */
const maxParallelJobs = 4;

interface Part {
  readonly text: string;
  /** The index of the text it belongs to. */
  readonly index: number;
}

/** Counts the tokens of each text with the model's encoding, in the pool's threads. */
export async function countTokens(
  pool: CpuPool,
  texts: readonly string[],
  model: string,
): Promise<JobOutcome<readonly number[]>> {
  const encoding = encodingOf(model);
  const sums = texts.map(() => 0);
  const batches = batchesOf(texts).values();
  let failed: Extract<JobOutcome<never>, { ok: false }> | undefined;
  const lane = async (): Promise<void> => {
    for (const batch of batches) {
      if (failed !== undefined) return;
      const outcome = await pool.run("count_tokens", { texts: batch.map(({ text }) => text), encoding });
      if (!outcome.ok) failed = outcome;
      else
        for (const [at, { index }] of batch.entries())
          sums[index] = (sums[index] ?? 0) + (outcome.value.counts[at] ?? 0);
    }
  };
  await Promise.all(Array.from({ length: maxParallelJobs }, lane));
  return failed ?? { ok: true, value: sums };
}

/** Groups small texts and splits large ones, so that the jobs are of similar size. */
function batchesOf(texts: readonly string[]): Part[][] {
  const batches: Part[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const [index, whole] of texts.entries()) {
    for (const text of splitText(whole, maxJobChars)) {
      if (chars + text.length > maxJobChars) {
        batches.push([]);
        chars = 0;
      }
      batches.at(-1)?.push({ text, index });
      chars += text.length;
    }
  }
  return batches;
}

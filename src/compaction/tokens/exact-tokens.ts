import { cutRuns } from "./cut-runs.js";
import type { Encoding } from "./encoding-of.js";

/** User text is never a special token, whatever it looks like. */
const ordinary = { disallowedSpecial: new Set<string>() };

/** Loaded on first use and only in worker threads: an encoding takes 100 ms to load and tens of megabytes. */
const encoders = {
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
} satisfies Record<Encoding, () => Promise<unknown>>;

/** Counts the tokens of texts exactly, except that runs longer than `maxRun` are counted in pieces. */
export async function exactTokens(texts: readonly string[], encoding: Encoding): Promise<number[]> {
  const { countTokens } = await encoders[encoding]();
  return texts.map((text) => cutRuns(text).reduce((sum, piece) => sum + countTokens(piece, ordinary), 0));
}

import { cutRuns } from "./cut-runs.js";
import type { Encoding } from "./encoding-of.js";

/** What a person writes is never a special token, whatever it looks like. */
const ordinary = { disallowedSpecial: new Set<string>() };

/** Loaded when first used: an encoding costs a tenth of a second and tens of megabytes, so only threads may load one. */
const encoders = {
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
} satisfies Record<Encoding, () => Promise<unknown>>;

/** Counts the tokens of texts exactly, but for runs longer than anyone writes, which are counted in pieces. */
export async function exactTokens(texts: readonly string[], encoding: Encoding): Promise<number[]> {
  const { countTokens } = await encoders[encoding]();
  return texts.map((text) => cutRuns(text).reduce((sum, piece) => sum + countTokens(piece, ordinary), 0));
}

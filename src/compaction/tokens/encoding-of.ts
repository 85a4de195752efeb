/** A tokenizer vocabulary shared by a family of models. */
export type Encoding = "cl100k_base" | "o200k_base";

/** Matches GPT-3.5 and the first GPT-4; all later models, including 4o, 4.1 and 4.5, use the larger vocabulary. */
const older = /(?:^|[/:])gpt-(?:3\.5|35|4)(?=$|-)/;

/** Returns a model's encoding, or the closest one for models without a public encoding. */
export function encodingOf(model: string): Encoding {
  return older.test(model) ? "cl100k_base" : "o200k_base";
}

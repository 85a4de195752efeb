/** How a family of models cuts text into tokens. */
export type Encoding = "cl100k_base" | "o200k_base";

/** GPT-3.5 and the first GPT-4; what came later, 4o, 4.1 and 4.5 among it, has the larger vocabulary. */
const older = /(?:^|[/:])gpt-(?:3\.5|35|4)(?=$|-)/;

/** The encoding of a model; for one that has none in public, the nearest. */
export function encodingOf(model: string): Encoding {
  return older.test(model) ? "cl100k_base" : "o200k_base";
}

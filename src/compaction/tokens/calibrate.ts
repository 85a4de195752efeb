/** Models whose encoding is public are counted exactly; for others a count is multiplied by what their usage has taught. */
const isPublic = /(?:^|[/:])(?:gpt-|chatgpt-|o\d|text-embedding|codex)/;

/** Measured for English; other texts differ more, and the first reported usage corrects it. */
const firstGuess = { claude: 1.15, other: 1 };

/** Less than this says more about overhead than about the encoding. */
const minCounted = 200;
const [lowest, highest] = [0.5, 3];

export function firstRatio(model: string): number {
  return /claude/i.test(model) ? firstGuess.claude : firstGuess.other;
}

/** The ratio after a provider said how many tokens it took what we counted for; half of it is what was known before. */
export function learnedRatio(model: string, ratio: number, counted: number, reported: number): number {
  if (isPublic.test(model) || counted < minCounted || reported <= 0) return ratio;
  const seen = Math.min(Math.max(reported / counted, lowest), highest);
  return (ratio + seen) / 2;
}

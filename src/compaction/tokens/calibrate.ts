/**
 * Models with a public encoding are counted exactly. For others the count is multiplied by a ratio learned from
 * usage.
 */
const isPublic = /(?:^|[/:])(?:gpt-|chatgpt-|o\d|text-embedding|codex)/;

/** Measured for English. Other texts differ more, but the first reported usage corrects the ratio. */
const firstGuess = { claude: 1.15, other: 1 };

/** Smaller counts reflect overhead more than the encoding. */
const minCounted = 200;
const [lowest, highest] = [0.5, 3];

export function firstRatio(model: string): number {
  return /claude/i.test(model) ? firstGuess.claude : firstGuess.other;
}

/** Averages the known ratio with the one implied by the token usage a provider reported for `counted` tokens. */
export function learnedRatio(model: string, ratio: number, counted: number, reported: number): number {
  if (isPublic.test(model) || counted < minCounted || reported <= 0) return ratio;
  const seen = Math.min(Math.max(reported / counted, lowest), highest);
  return (ratio + seen) / 2;
}

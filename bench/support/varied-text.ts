const syllables = ["ka", "lo", "mi", "ren", "tu", "sha", "bor", "eth", "ing", "ous", "pre", "dis", "con", "ver"];
const signs = [". ", ", ", "; ", "\n", " (", ") ", ' = "', "();\n", " 1", " 42 "];

/** Seeded text with few repetitions, so that a tokenizer cannot profit from its cache. */
export function variedText(seed: number, chars: number): string {
  let state = seed * 2_654_435_761 + 1;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const parts: string[] = [];
  for (let length = 0; length < chars; length += parts.at(-1)?.length ?? 0) {
    const word = Array.from({ length: 1 + next(4) }, () => syllables[next(syllables.length)]).join("");
    parts.push(next(6) === 0 ? `${word}${signs[next(signs.length)]}` : `${word} `);
  }
  return parts.join("").slice(0, chars);
}

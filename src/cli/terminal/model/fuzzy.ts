/** A candidate that contains the letters of a query in their order. */
export interface FuzzyMatch<T> {
  readonly candidate: T;
  /** Where the letters are in the text of the candidate, ascending; offsets in UTF-16 units. */
  readonly positions: readonly number[];
}

/** The best matches first; with an empty query the first candidates. */
export function fuzzyFind<T>(
  query: string,
  candidates: readonly T[],
  options: { readonly limit: number; readonly textOf: (candidate: T) => string },
): FuzzyMatch<T>[] {
  const { limit, textOf } = options;
  const found: FuzzyMatch<T>[] = [];
  for (const candidate of candidates) {
    if (found.length === limit) break;
    const at = textOf(candidate).toLowerCase().indexOf(query.toLowerCase());
    if (at !== -1) found.push({ candidate, positions: Array.from(query, (_, index) => at + index) });
  }
  return found;
}

/** A candidate that contains the letters of a query in their order. */
export interface FuzzyMatch<T> {
  readonly candidate: T;
  /** Where the letters are in the text of the candidate, ascending; offsets in UTF-16 units. */
  readonly positions: readonly number[];
}

interface FuzzyOptions<T> {
  readonly limit: number;
  readonly textOf: (candidate: T) => string;
}

interface Scored<T> extends FuzzyMatch<T> {
  readonly score: number;
  readonly length: number;
  readonly index: number;
}

/** For letters that follow each other, that begin a word, and that are in the last part of a path. */
const points = { consecutive: 8, wordStart: 10, pathEnd: 6, wholeName: 30, nameStart: 15, sameCase: 1 };
const maxGapPenalty = 12;
/** As soon as there are this many times the limit, the worst are dropped. */
const slack = 4;

/**
 * The best matches first; with an empty query, the first candidates. A query of several words matches where each of
 * them does. Capital and small letters are the same.
 */
export function fuzzyFind<T>(
  query: string,
  candidates: readonly T[],
  { limit, textOf }: FuzzyOptions<T>,
): FuzzyMatch<T>[] {
  const words = query.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return candidates.slice(0, limit).map((candidate) => ({ candidate, positions: [] }));
  const terms = words.map((word) => ({ word, lower: sameLengthLower(word) }));
  const found: Scored<T>[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const text = textOf(candidate);
    const match = matchAll(terms, text);
    if (match === undefined) continue;
    found.push({ candidate, ...match, length: text.length, index });
    if (found.length > limit * slack + slack) keepBest(found, limit);
  }
  keepBest(found, limit);
  return found.map(({ candidate, positions }) => ({ candidate, positions }));
}

interface Term {
  readonly word: string;
  readonly lower: string;
}

interface Match {
  readonly positions: readonly number[];
  readonly score: number;
}

/** A candidate's text, prepared once. */
interface Text {
  readonly text: string;
  readonly lower: string;
  /** The last part of a path. */
  readonly nameStart: number;
  readonly nameEnd: number;
}

function matchAll(terms: readonly Term[], text: string): Match | undefined {
  const lower = sameLengthLower(text);
  for (const term of terms) if (!contains(lower, term.lower, 0)) return undefined;
  const nameEnd = text.endsWith("/") ? text.length - 1 : text.length;
  const prepared = { text, lower, nameStart: text.lastIndexOf("/", nameEnd - 1) + 1, nameEnd };
  let score = 0;
  let positions: readonly number[] = [];
  for (const term of terms) {
    const match = bestMatch(term, prepared);
    score += match.score;
    positions = positions.length === 0 ? match.positions : [...new Set([...positions, ...match.positions])];
  }
  return { positions: terms.length === 1 ? positions : positions.toSorted((a, b) => a - b), score };
}

/** Whether the letters are there in their order. */
function contains(lower: string, term: string, from: number): boolean {
  let at = from - 1;
  for (let index = 0; index < term.length; index += 1) {
    at = lower.indexOf(term.charAt(index), at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** In the last part of a path if possible; of several ways, the one with the highest score. */
function bestMatch({ word, lower: term }: Term, text: Text): Match {
  const from = contains(text.lower, term, text.nameStart) ? text.nameStart : 0;
  const piece = inOnePiece(term, text.lower, from);
  const inPiece = piece && { positions: piece, score: scoreOf(piece, word, text) };
  if (inPiece !== undefined && startsWord(text.text, inPiece.positions[0] ?? 0)) return inPiece;
  const ways = [atWordStarts(term, text.lower, from), spread(term, text.lower, from)];
  let best = inPiece;
  for (const positions of ways) {
    const score = scoreOf(positions, word, text);
    if (best === undefined || score > best.score) best = { positions, score };
  }
  return best ?? { positions: [], score: 0 };
}

/** The first place where a word begins, or else the first place. */
function inOnePiece(term: string, lower: string, from: number): number[] | undefined {
  const first = lower.indexOf(term, from);
  if (first === -1) return undefined;
  let at = first;
  while (at !== -1 && at > from && isWordCharacter(lower, at - 1)) at = lower.indexOf(term, at + 1);
  const start = at === -1 ? first : at;
  const positions: number[] = [];
  for (let index = 0; index < term.length; index += 1) positions.push(start + index);
  return positions;
}

/** Each letter at the next start of a word, if there is one and the rest follows it. */
function atWordStarts(term: string, lower: string, from: number): number[] {
  const positions: number[] = [];
  let before = from - 1;
  for (let index = 0; index < term.length; index += 1) {
    const letter = term.charAt(index);
    const next = lower.indexOf(letter, before + 1);
    let at = next;
    while (at > 0 && isWordCharacter(lower, at - 1)) at = lower.indexOf(letter, at + 1);
    before = at !== -1 && contains(lower, term.slice(index + 1), at + 1) ? at : next;
    positions.push(before);
  }
  return positions;
}

/** Up to the first place where all letters were found, as near to its end as possible. */
function spread(term: string, lower: string, from: number): number[] {
  let end = from - 1;
  for (let index = 0; index < term.length; index += 1) end = lower.indexOf(term.charAt(index), end + 1);
  const positions = Array.from({ length: term.length }, () => 0);
  let at = end + 1;
  for (let index = term.length - 1; index >= 0; index -= 1) {
    at = lower.lastIndexOf(term.charAt(index), at - 1);
    positions[index] = at;
  }
  return positions;
}

function scoreOf(positions: readonly number[], word: string, { text, nameStart, nameEnd }: Text): number {
  const first = positions[0] ?? 0;
  let before = first - 1;
  let score = first === nameStart ? points.nameStart : 0;
  for (let index = 0; index < positions.length; index += 1) {
    const position = positions[index] ?? 0;
    if (index > 0)
      score += position === before + 1 ? points.consecutive : -Math.min(maxGapPenalty, position - before - 1);
    if (startsWord(text, position)) score += points.wordStart;
    if (position >= nameStart) score += points.pathEnd;
    if (text[position] === word[index]) score += points.sameCase;
    before = position;
  }
  return first === nameStart && positions.length === nameEnd - nameStart ? score + points.wholeName : score;
}

function startsWord(text: string, position: number): boolean {
  if (position === 0 || !isWordCharacter(text, position - 1)) return true;
  return isCapital(text.charCodeAt(position)) && !isCapital(text.charCodeAt(position - 1));
}

/** Letters and digits, and all that is not ASCII. */
function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || isCapital(code) || code > 127;
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90;
}

function keepBest<T>(found: Scored<T>[], limit: number): void {
  found.sort((a, b) => b.score - a.score || a.length - b.length || a.index - b.index);
  found.length = Math.min(found.length, limit);
}

/** A few letters get longer; then offsets would not fit. */
function sameLengthLower(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

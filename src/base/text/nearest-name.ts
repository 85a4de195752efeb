import { closest, distance } from "fastest-levenshtein";

/** With more edits than this the text counts as a different word. */
const maxDistance = 3;

/** The known name that was probably meant, ignoring case; undefined if none is close enough. */
export function nearestName(text: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const wanted = text.toLowerCase();
  const lowered = known.map((name) => name.toLowerCase());
  const near = closest(wanted, lowered);
  const isNear = distance(wanted, near) <= Math.min(maxDistance, Math.floor(wanted.length / 2));
  return isNear ? known[lowered.indexOf(near)] : undefined;
}

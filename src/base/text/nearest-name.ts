import { closest, distance } from "fastest-levenshtein";

/** More changes than this make another word. */
const maxDistance = 3;

/** The known name that was probably meant, compared without case; undefined when none is close enough. */
export function nearestName(text: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const wanted = text.toLowerCase();
  const lowered = known.map((name) => name.toLowerCase());
  const near = closest(wanted, lowered);
  const isNear = distance(wanted, near) <= Math.min(maxDistance, Math.floor(wanted.length / 2));
  return isNear ? known[lowered.indexOf(near)] : undefined;
}

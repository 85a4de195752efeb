/** Returns a power of two near the square root, computed as in git's xdiff. */
export function approximateRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 4)) root *= 2;
  return root;
}

/** Returns the cap on every size that makes the total fit the budget, or `Infinity` if it already fits. */
export function capFor(sizes: readonly number[], budget: number): number {
  let left = budget;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Infinity;
}

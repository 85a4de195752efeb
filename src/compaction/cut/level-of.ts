/** The level to which the largest must be lowered so that all together are within the budget. */
export function levelOf(sizes: readonly number[], budget: number): number {
  let left = budget;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Infinity;
}

/** No request of an agent comes near; what looks into it does so by recursion. */
const maxDepth = 500;

export function isTooDeep(value: unknown, left = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((part) => isTooDeep(part, left - 1));
}

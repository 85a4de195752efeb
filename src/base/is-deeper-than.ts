/**
 * Whether a value is nested deeper than `levels`. Iterates level by level, because recursion could overflow the
 * stack.
 */
export function isDeeperThan(value: object, levels: number): boolean {
  let level = [value];
  for (let depth = 0; depth < levels; depth += 1) {
    const next: object[] = [];
    for (const outer of level) {
      for (const inner of Object.values(outer) as unknown[]) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}

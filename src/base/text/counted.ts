/** A count with its noun, in the singular or the plural: `1 file`, `2 files`. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

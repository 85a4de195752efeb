/** Lowercases a text without changing its length, so that positions stay valid. */
export function lowercase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("");
}

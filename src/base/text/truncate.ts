/** Cuts a text to at most `maxChars` and appends `…`. Never splits a surrogate pair. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const isPairCut = isFirstOfPair(text.charCodeAt(maxChars - 1));
  return `${text.slice(0, isPairCut ? maxChars - 1 : maxChars)}…`;
}

function isFirstOfPair(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

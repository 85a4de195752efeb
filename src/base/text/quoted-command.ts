import { isVisible, visible } from "./visible.js";

/** Words that a shell does not interpret in any position except the first, where they may be keywords. */
const plain = /^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+:,./=-]*$/;
const shellWord =
  /^(?:case|coproc|do|done|elif|else|end|esac|fi|for|foreach|function|if|in|repeat|select|then|time|until|while)$/;

/**
 * An argument vector as one would type it: a shell that reads it gets exactly these arguments, and every character is
 * visible. Words that plain quotes cannot show visibly are written as `$'…'`.
 */
export function quotedCommand(argv: readonly string[]): string {
  return argv.map((word, index) => (index === 0 && isSpecialFirst(word) ? quoted(word) : quotedWord(word))).join(" ");
}

export function quotedWord(word: string): string {
  return plain.test(word) ? word : quoted(word);
}

function quoted(word: string): string {
  if (isVisible(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${visible(word.replaceAll(/[\\']/g, "\\$&"))}'`;
}

/** True for an assignment or a shell keyword. */
function isSpecialFirst(word: string): boolean {
  return word.includes("=") || shellWord.test(word);
}

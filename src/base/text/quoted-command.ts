import { isVisible, visible } from "./visible.js";

/** Words a shell leaves alone wherever they stand but for the first, which may be one of its own. */
const plain = /^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+:,./=-]*$/;
const shellWord =
  /^(?:case|coproc|do|done|elif|else|end|esac|fi|for|foreach|function|if|in|repeat|select|then|time|until|while)$/;

/**
 * An argument vector as it would be typed: a shell that reads it gets exactly these arguments, and everything in them
 * can be seen. What cannot be written visibly in plain quotes stands in `$'…'`.
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

/** An assignment, or a word of the shell's own. */
function isSpecialFirst(word: string): boolean {
  return word.includes("=") || shellWord.test(word);
}

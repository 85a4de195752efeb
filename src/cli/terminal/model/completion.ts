/** The word at the cursor that a menu can complete. */
export interface Completion {
  readonly trigger: "/" | "@" | "#" | "!";
  /** The text between the trigger and the cursor. */
  readonly query: string;
}

/** A completion with its place in the text: from the trigger to the end of the word. */
export interface CompletionRange extends Completion {
  readonly start: number;
  readonly end: number;
}

/** Characters that may stand before a word: `(@file` completes, `me@example` does not. */
const wordBegins = /[\s("'`[{]/;

export function completionAt(text: string, cursor: number): CompletionRange | undefined {
  if (text.startsWith("!")) return cursor === 0 ? undefined : range(text, "!", 0, cursor, text.length);
  const start = wordStart(text, cursor);
  const trigger = text[start];
  if (trigger === "/" && start === 0 && cursor > 0) return range(text, "/", 0, cursor, wordEnd(text, cursor));
  return reference(text, cursor);
}

/** `@` and `#` at the start of a word; `@"` names a file with spaces. */
function reference(text: string, cursor: number): CompletionRange | undefined {
  for (let at = cursor - 1; at >= 0; at -= 1) {
    const character = text[at];
    if (character === "\n") return undefined;
    const isTrigger = character === "@" || character === "#";
    if (!isTrigger || (at > 0 && !wordBegins.test(text[at - 1] ?? ""))) continue;
    const isQuoted = character === "@" && text[at + 1] === '"' && cursor > at + 1;
    const typed = text.slice(at + 1, cursor);
    if (isQuoted ? typed.slice(1).includes('"') : /\s/.test(typed)) return undefined;
    const quote = isQuoted ? text.indexOf('"', cursor) : -1;
    const line = text.indexOf("\n", cursor);
    const closes = quote !== -1 && (line === -1 || quote < line);
    const end = isQuoted ? (closes ? quote + 1 : cursor) : wordEnd(text, cursor);
    return { trigger: character, query: isQuoted ? typed.slice(1) : typed, start: at, end };
  }
  return undefined;
}

function range(text: string, trigger: "/" | "!", start: number, cursor: number, end: number): CompletionRange {
  return { trigger, query: text.slice(start + 1, cursor), start, end };
}

function wordStart(text: string, cursor: number): number {
  return cursor - (/\S*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
}

/** What stands behind `name =` in a text. */
export interface Value {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly isQuoted: boolean;
}

/** A longer value is no secret: it is where somebody forgot to close quotes. */
const maxChars = 8_192;
const quotes = new Set(['"', "'", "`"]);
/** A piece of what has no quotes around it; of several escapes the first ends it, and the mask does not. */
const word = /(?:[^\s"'`,;&()<>{}[\]|\\]|\\(?![nrt"'`\\])|\[redacted\]){1,512}/y;
const keyBegin = "-----BEGIN";
/** As `printenv` writes one: in several lines, and nothing around them. */
const wholeKey = /-----BEGIN [A-Z0-9 ]{1,64}-----(?:[^-]|-(?!----)){0,16384}-----END [A-Z0-9 ]{1,64}-----/y;

/** The value that begins here; none when there is nothing, or no end of it. */
export function valueAt(text: string, at: number): Value | undefined {
  let from = at;
  while (text[from] === "\\") from += 1;
  const quote = text[from];
  if (quote !== undefined && quotes.has(quote)) return quotedAt(text, from + 1, quote, from - at);
  return from === at ? wordAt(text, at) : undefined;
}

/** Quotes that stand in quotes are escaped once more than those around them. */
function quotedAt(text: string, from: number, quote: string, depth: number): Value | undefined {
  const mayBreak = quote === "`" || text.startsWith(keyBegin, from);
  const end = Math.min(text.length, from + maxChars);
  for (let at = from; at < end; at += 1) {
    const char = text[at];
    if (char === "\n" && !mayBreak) return undefined;
    let slashes = 0;
    while (text[at + slashes] === "\\") slashes += 1;
    const isQuote = text[at + slashes] === quote;
    const closes = depth === 0 ? slashes % 2 === 0 : slashes <= depth;
    if (isQuote && closes) return { from, to: at, text: text.slice(from, at), isQuoted: true };
    at += isQuote ? slashes : Math.max(0, slashes - 1);
  }
  return undefined;
}

/** As far as it must be read to be judged; `wordEnd` says where it ends. */
function wordAt(text: string, from: number): Value | undefined {
  const to = keyEnd(text, from) ?? readWord(text, from, 1);
  return to === from ? undefined : { from, to, text: text.slice(from, to), isQuoted: false };
}

function keyEnd(text: string, from: number): number | undefined {
  wholeKey.lastIndex = from;
  return wholeKey.test(text) ? wholeKey.lastIndex : undefined;
}

export function wordEnd(text: string, from: number): number {
  return readWord(text, from, Number.POSITIVE_INFINITY);
}

function readWord(text: string, from: number, pieces: number): number {
  let to = from;
  for (let piece = 0; piece < pieces; piece += 1) {
    word.lastIndex = to;
    if (!word.test(text)) break;
    to = word.lastIndex;
  }
  return to;
}

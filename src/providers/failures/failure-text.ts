const maxChars = 300;
/** Shorter ones would be found in ordinary words. */
const minKeyChars = 4;
/** Keys from this length on are shown by servers with their last characters. */
const minMaskedChars = 20;
const shownKeyChars = 4;
const hidden = "[key]";
/** A key of which a server shows the first and the last characters. Matches begin at the start of a word, so that a long word is scanned once. */
const maskedKey = /(?<![\w-])[\w-]*\*{3,}[\w-]*/g;

/** What must not stand in any message. */
export interface Hidden {
  readonly apiKey: string | undefined;
  /** Takes other secrets out of a text: servers repeat what they were sent. */
  readonly redact?: ((text: string) => string) | undefined;
}

const asItIs = (text: string): string => text;

/**
 * What a server or the system said about an error, fit for a person: its first line, short, without markup, and never
 * with the key in it. Empty when nothing is left.
 */
export function failureText(said: string, { apiKey, redact = asItIs }: Hidden): string {
  // Before anything is cut: half a key is a secret too.
  const line =
    redact(withoutKey(said, apiKey).replaceAll(maskedKey, hidden))
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? "";
  if (line.startsWith("<")) return "";
  const plain = line.replaceAll(/\p{Cc}+/gu, " ").trim();
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 1).trimEnd()}…` : plain;
}

/** Servers show a key in many ways, mostly with its last characters: words that end with these are hidden too. */
function withoutKey(text: string, apiKey = ""): string {
  if (apiKey.length < minKeyChars) return text;
  const whole = text.replaceAll(apiKey, hidden);
  const ending = apiKey.slice(-shownKeyChars);
  if (apiKey.length < minMaskedChars || !/^\w+$/.test(ending)) return whole;
  return whole.replaceAll(new RegExp(`(?<![^\\s"'=:,;()])[^\\s"'=:,;()]*${ending}(?!\\w)`, "gi"), hidden);
}

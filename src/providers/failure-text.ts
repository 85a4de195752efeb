const maxChars = 300;
/** Shorter ones would be found in ordinary words. */
const minKeyChars = 4;
const hidden = "[key]";
/** A key of which a server shows the first and the last characters. */
const maskedKey = /[\w-]*\*{3,}[\w-]*/g;

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
  const text = apiKey !== undefined && apiKey.length >= minKeyChars ? said.replaceAll(apiKey, hidden) : said;
  const line =
    redact(text.replaceAll(maskedKey, hidden))
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? "";
  if (line.startsWith("<")) return "";
  const plain = line.replaceAll(/\p{Cc}+/gu, " ").trim();
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 1).trimEnd()}…` : plain;
}

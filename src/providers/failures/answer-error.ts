import type { FailureCode, Failure } from "../../messages/failure.js";

export const incompleteAnswer: Failure = {
  code: "network",
  message: "the answer ended before it was complete",
  retryable: true,
};

const maxChars = 300;

/** Shorter keys would match parts of ordinary words. */
const minKeyChars = 4;

/** Servers show the last characters of keys that are at least this long. */
const minMaskedChars = 20;

const shownKeyChars = 4;

const keyPlaceholder = "[key]";

/**
 * A key of which a server shows the first and the last characters. Matches begin at the start of a word, so that a long
 * word is scanned once.
 */
const maskedKey = /(?<![\w-])[\w-]*\*{3,}[\w-]*/g;

const unchanged = (text: string): string => text;

const retryableCodes: ReadonlySet<FailureCode> = new Set(["network", "overloaded", "rate_limit", "server", "timeout"]);

/** The server responded with an error instead of a stream. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly status: number;
  /** The parsed body, or its text if it is not JSON. */
  readonly body: unknown;
  /** The server's `retry-after` header. */
  readonly retryAfter: string | undefined;

  constructor(status: number, text: string, retryAfter: string | undefined) {
    super(`the server answered ${status}`);
    this.status = status;
    this.body = valueOf(text);
    this.retryAfter = retryAfter;
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a failed request may succeed when it is sent again. */
export function isRetryable(code: FailureCode): boolean {
  return retryableCodes.has(code);
}

/** Maps an HTTP status to a failure code. */
export function codeOfStatus(status: number): FailureCode {
  if (status === 401 || status === 403) return "auth";
  if (status === 408) return "timeout";
  if (status === 429) return "rate_limit";
  // The server is too busy, or still handles another request of ours.
  if (status === 409 || status === 425 || status === 503 || status === 529) return "overloaded";
  return status >= 500 ? "server" : "invalid_request";
}

/** The secrets that must not appear in any message. */
export interface HiddenSecrets {
  readonly apiKey: string | undefined;
  /** Removes other secrets from a text, because servers repeat what they were sent. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * Turns an error text from a server or the system into one for a person: its first line, short, without markup, and
 * never with the key. Empty if nothing is left.
 */
export function failureText(text: string, { apiKey, redact = unchanged }: HiddenSecrets): string {
  // Redact before truncating: half a key is a secret too.
  const line =
    redact(withoutKey(text, apiKey).replaceAll(maskedKey, keyPlaceholder))
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? "";
  if (line.startsWith("<")) return "";
  const plain = line.replaceAll(/\p{Cc}+/gu, " ").trim();
  return plain.length > maxChars ? `${plain.slice(0, maxChars - 1).trimEnd()}…` : plain;
}

/** Servers mask a key in many ways, mostly showing its last characters. Words that end with these are hidden too. */
function withoutKey(text: string, apiKey = ""): string {
  if (apiKey.length < minKeyChars) return text;
  const whole = text.replaceAll(apiKey, keyPlaceholder);
  const ending = apiKey.slice(-shownKeyChars);
  if (apiKey.length < minMaskedChars || !/^\w+$/.test(ending)) return whole;
  return whole.replaceAll(new RegExp(`(?<![^\\s"'=:,;()])[^\\s"'=:,;()]*${ending}(?!\\w)`, "gi"), keyPlaceholder);
}

/** Replaces a secret in a text. */
export const mask = "[redacted]";

/** Rules for what is redacted before it is written to disk. */
export interface RedactionRules {
  /** Exact values of known secrets, also searched for in encoded forms. */
  readonly secrets: readonly string[];
  /** Values that a user asked to redact, however short. Found only verbatim or escaped, not in other encodings. */
  readonly exact?: readonly string[];
  /** Names whose values are secrets: `api_key` for `api_key=…`. */
  readonly names: readonly string[];
  /** Whether text that only looks like a key is redacted. */
  readonly shapes: boolean;
}

/** How a secret was recognized: by its value, by the name before it, or by its shape. */
export type SecretKind = "known" | "named" | "shaped";
export type OnSecret = (kind: SecretKind, value: string) => void;

export interface TextRedactor {
  /** A quick check before redacting: false only if the JSON text contains no secret. Nearly all texts contain none. */
  suspects(json: string): boolean;
  redact(text: string, onSecret: OnSecret): string;
  /** Redacts only the values in `secrets` and `exact`, in text that must otherwise stay unchanged. */
  redactKnown(text: string, onSecret: OnSecret): string;
  /** True if the whole value of a field with this name is a secret. */
  isSecretField(name: string, value: string): boolean;
}

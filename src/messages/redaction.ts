/** What stands in the place of a secret. */
export const mask = "[redacted]";

/** What is kept from the disk. */
export interface RedactionRules {
  /** Exact values. */
  readonly secrets: readonly string[];
  /** Values somebody asked for, however short: looked for only as they stand, since their other forms are everywhere. */
  readonly exact?: readonly string[];
  /** Names whose values are secrets: `api_key` for `api_key=…`. */
  readonly names: readonly string[];
  /** Whether what only looks like a key is taken for one. */
  readonly shapes: boolean;
}

/** By what a secret was recognized: its value, the name before it, or its shape. */
export type SecretKind = "known" | "named" | "shaped";
export type OnSecret = (kind: SecretKind, value: string) => void;

/** Takes secrets out of texts. */
export interface TextRedactor {
  /** False only when there is no secret in a JSON text: a quick look, since nearly all have none. */
  suspects(json: string): boolean;
  redact(text: string, onSecret: OnSecret): string;
  /** Only the exact values: for what must otherwise stay as it is. */
  redactKnown(text: string, onSecret: OnSecret): string;
  /** Whether a field of this name with this value is a secret as a whole. */
  isSecretField(name: string, value: string): boolean;
}

import { redactionRules } from "../../src/config/secrets/redact.js";
import { createTextRedactor } from "../../src/config/secrets/text-redactor.js";
import type { RedactionRules } from "../../src/base/text/redaction.js";
import { lineEncoder } from "../../src/rollouts/file/encode.js";

/** A redactor with the default configuration and no known secrets. */
export const plainRedactor = redactorOf();

/** An encoder that uses `plainRedactor`. */
export const plainEncoder = lineEncoder(plainRedactor);

export function redactorOf(rules: Partial<RedactionRules> = {}) {
  return createTextRedactor({ ...redactionRules({}, {}), ...rules });
}

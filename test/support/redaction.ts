import { redactionRules } from "../../src/config/secrets/redact.js";
import { createTextRedactor } from "../../src/config/secrets/text-redactor.js";
import type { RedactionRules } from "../../src/base/text/redaction.js";
import { lineEncoder } from "../../src/rollouts/file/encode.js";

/** The redactor of a run in which nothing is configured and no secret is known, unless some are named. */
export const plainRedactor = redactorOf();

/** What such a run writes. */
export const plainEncoder = lineEncoder(plainRedactor);

export function redactorOf(rules: Partial<RedactionRules> = {}) {
  return createTextRedactor({ ...redactionRules({}, {}), ...rules });
}

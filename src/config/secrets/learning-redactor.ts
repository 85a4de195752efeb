import type { OnSecret, RedactionRules, TextRedactor } from "../../base/text/redaction.js";
import { createTextRedactor } from "./text-redactor.js";

/** A token expires after about an hour, so after this many newer ones the oldest is no longer useful. */
const maxLearned = 100;

/** Redacts secrets in texts, including those that become known later, such as login tokens and keys from a keyring. */
export class LearningRedactor implements TextRedactor {
  readonly #rules: RedactionRules;
  readonly #secrets: string[];
  #redactor: TextRedactor;

  constructor(rules: RedactionRules) {
    this.#rules = rules;
    this.#secrets = [...rules.secrets];
    this.#redactor = createTextRedactor(rules);
  }

  /** All exact secrets. Learned ones are added to this same array. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  learn(secret: string): void {
    if (this.#secrets.includes(secret)) return;
    const given = this.#rules.secrets.length;
    if (this.#secrets.length === given + maxLearned) this.#secrets.splice(given, 1);
    this.#secrets.push(secret);
    this.#redactor = createTextRedactor({ ...this.#rules, secrets: this.#secrets });
  }

  suspects(json: string): boolean {
    return this.#redactor.suspects(json);
  }

  redact(text: string, onSecret: OnSecret): string {
    return this.#redactor.redact(text, onSecret);
  }

  redactKnown(text: string, onSecret: OnSecret): string {
    return this.#redactor.redactKnown(text, onSecret);
  }

  isSecretField(name: string, value: string): boolean {
    return this.#redactor.isSecretField(name, value);
  }
}

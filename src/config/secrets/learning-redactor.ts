import type { OnSecret, RedactionRules, TextRedactor } from "../../messages/redaction.js";
import { createTextRedactor } from "./text-redactor.js";

/** A token is good for an hour or so: who had so many since then has no use for the first. */
const maxLearned = 100;

/** Takes secrets out of texts, also those that are known only later, as tokens and keys of a keyring are. */
export class LearningRedactor implements TextRedactor {
  readonly #rules: RedactionRules;
  readonly #secrets: string[];
  #redactor: TextRedactor;

  constructor(rules: RedactionRules) {
    this.#rules = rules;
    this.#secrets = [...rules.secrets];
    this.#redactor = createTextRedactor(rules);
  }

  /** All exact ones; what is learned later comes into the same list. */
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

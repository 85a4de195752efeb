import { mask, type OnSecret, type RedactionRules, type TextRedactor } from "../../messages/redaction.js";
import { allFormsOf, escaped, minSecretChars } from "../secret-forms.js";
import { namedValues } from "./named-values.js";
import { redactShapes, shapesHint } from "./shapes.js";

/** A printable character that a JSON text in a JSON text has by its number: nobody looks for a secret so. */
const hiddenChar = "\\\\\\\\u00[2-7]";
/** Part of a form that no escaping changes, long enough to be rare. */
const minNeedleChars = 4;

/** Known values first, which are exact; then what names and shapes tell. */
export function createTextRedactor({ secrets, exact = [], names, shapes }: RedactionRules): TextRedactor {
  const counted = secrets.filter((secret) => secret.length >= minSecretChars && isNoMask(secret));
  const ofSecrets = counted.map((secret) => allFormsOf(secret).map((form) => ({ form, secret })));
  const ofExact = exact.filter(isNoMask).map((secret) => [secret, escaped(secret)].map((form) => ({ form, secret })));
  const forms = [...ofSecrets, ...ofExact].flat().toSorted((a, b) => b.form.length - a.form.length);
  const needles = [...new Set(forms.map(({ form }) => needleOf(form)))].filter(isNeeded);
  const named = namedValues(names);
  const hints = [...(named === undefined ? [] : [named.hint]), ...(shapes ? [shapesHint] : []), hiddenChar];
  const hint = new RegExp(hints.join("|"), "i");

  function redactKnown(text: string, onSecret: OnSecret): string {
    return forms.reduce((rest, { form, secret }) => {
      if (!rest.includes(form)) return rest;
      onSecret("known", secret);
      return rest.replaceAll(form, mask);
    }, text);
  }

  return {
    suspects: (json) => needles.some((needle) => json.includes(needle)) || hint.test(json),
    redactKnown,
    redact: (text, onSecret) => {
      const unknown = redactKnown(text, onSecret);
      const unnamed = named?.redact(unknown, (value) => onSecret("named", value)) ?? unknown;
      return shapes ? redactShapes(unnamed, (value) => onSecret("shaped", value)) : unnamed;
    },
    isSecretField: (name, value) => named !== undefined && named.isName(name) && named.isSecret(name, value),
  };
}

/** What stands in the place of secrets would never be without it. */
export function isNoMask(secret: string): boolean {
  return !mask.includes(secret);
}

function isNeeded(needle: string, index: number, all: readonly string[]): boolean {
  return !all.some((other, at) => at !== index && needle.includes(other));
}

/** Whole where there is no such part; then what is escaped is found when it is looked at once more. */
function needleOf(form: string): string {
  const runs = form.match(/[A-Za-z0-9_.-]+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  return longest.length >= minNeedleChars ? longest : form;
}

import { mask, type OnSecret, type RedactionRules, type TextRedactor } from "../../messages/redaction.js";
import { allFormsOf, escaped, minSecretChars } from "./secret-forms.js";
import { namedValues } from "./named-values.js";
import { redactShapes, shapesHint } from "./shapes.js";

/** A printable character that a JSON text in a JSON text has by its number: nobody looks for a secret so. */
const hiddenChar = "\\\\\\\\u00[2-7]";
/** Part of a form that no escaping changes, long enough to be rare. */
const minNeedleChars = 4;
/** A text in which secrets are wrapped deeper than this was made to hide them. */
const maxPasses = 5;

/** Known values first, which are exact; then what shapes and names tell, as long as what was taken out tells more. */
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

  function redactTold(text: string, onSecret: OnSecret): string {
    const unshaped = shapes ? redactShapes(text, (value) => onSecret("shaped", value)) : text;
    return named?.redact(unshaped, (value) => onSecret("named", value)) ?? unshaped;
  }

  return {
    suspects: (json) => needles.some((needle) => json.includes(needle)) || hint.test(json),
    redactKnown,
    redact: (text, onSecret) => {
      let redacted = redactKnown(text, onSecret);
      for (let pass = 0; pass < maxPasses; pass += 1) {
        const before = redacted;
        redacted = redactTold(before, pass === 0 ? onSecret : withoutWrappers(onSecret));
        if (redacted === before) return redacted;
      }
      return mask;
    },
    isSecretField: (name, value) => named !== undefined && named.isName(name) && named.isSecret(name, value),
  };
}

/** The secret in them was told when it was taken out. */
function withoutWrappers(onSecret: OnSecret): OnSecret {
  return (kind, value) => {
    if (!value.includes(mask)) onSecret(kind, value);
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

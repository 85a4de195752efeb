import { mask, type OnSecret, type RedactionRules, type TextRedactor } from "../../messages/redaction.js";
import { namedValues } from "./named-values.js";
import { allFormsOf, escaped, minSecretChars } from "./secret-forms.js";

/** Keys that are recognized by how they look. Each begins with a fixed word, so that a long text is read in time. */
const secretShapes: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,16384}-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
  /(?<=:\/\/[^\s/@:"'`]{0,100}:)[^\s/@"'`${}<>[\]]{3,200}(?=@[\w[])/g,
  /(?<=\bbearer[ \t]{1,4})(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{16,4096}/gi,
  /(?<![A-Za-z0-9])sk-(?=[\w-]{0,200}\d)[\w-]{16,200}/g,
  /(?<![A-Za-z0-9])[sr]k_(?:live|test)_\w{16,200}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_\w{30,255}|github_pat_\w{30,255}|glpat-[\w-]{20,100}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,60})/g,
  /(?<![A-Za-z0-9])xox[abeprs]-[\w-]{10,200}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g,
  /(?<![\w-])eyJ[\w-]{10,4096}\.eyJ[\w-]{10,8192}\.[\w-]{0,4096}/g,
];

/** Finds at least all that `redactShapes` would find something in, also in a text that was escaped. */
const shapesHint =
  "PRIVATE KEY|://[^\\s/@:\"'`\\\\]{0,100}:[^\\s/@\"'`]{3,200}@|bearer|sk-[\\w-]{16}|[sr]k_(?:live|test)_|gh[pousr]_\\w{30}|github_pat_|glpat-|npm_[a-z0-9]{36}|hf_[a-z0-9]{30}|xox[abeprs]-|A[KS]IA[0-9A-Z]{16}|AIza[\\w-]{35}|eyJ[\\w-]{10}";

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

function redactShapes(text: string, onFound: (value: string) => void): string {
  return secretShapes.reduce((rest, shape) => rest.replaceAll(shape, (found) => (onFound(found), mask)), text);
}

import { mask } from "../../messages/redaction.js";

/** Keys that are recognized by how they look. Each begins with a fixed word, so that a long text is read in time. */
const shapes: readonly RegExp[] = [
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
export const shapesHint =
  "PRIVATE KEY|://[^\\s/@:\"'`\\\\]{0,100}:[^\\s/@\"'`]{3,200}@|bearer|sk-[\\w-]{16}|[sr]k_(?:live|test)_|gh[pousr]_\\w{30}|github_pat_|glpat-|npm_[a-z0-9]{36}|hf_[a-z0-9]{30}|xox[abeprs]-|A[KS]IA[0-9A-Z]{16}|AIza[\\w-]{35}|eyJ[\\w-]{10}";

export function redactShapes(text: string, onFound: (value: string) => void): string {
  return shapes.reduce((rest, shape) => rest.replaceAll(shape, (found) => (onFound(found), mask)), text);
}

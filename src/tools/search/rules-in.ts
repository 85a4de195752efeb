import { readRegularSync } from "../../base/fs/open-regular.js";

const maxRuleBytes = 1_000_000;

/**
 * The text of a `.gitignore`. A link, a pipe or an oversized file counts as empty, because a cloned repository may
 * contain any of them.
 */
export function rulesIn(file: string): string {
  return textOr(() => readRegularSync(file, { links: "refuse", maxBytes: maxRuleBytes }));
}

/** The same for a file of git itself or of its user, which may be a link, as in git. */
export function gitTextIn(file: string): string {
  return textOr(() => readRegularSync(file, { links: "follow", maxBytes: maxRuleBytes }));
}

function textOr(read: () => Buffer): string {
  try {
    return read().toString();
  } catch {
    return "";
  }
}

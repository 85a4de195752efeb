import { readRegularFile } from "./regular-file.js";

const maxBytes = 1_000_000;

/** What a `.gitignore` says. A link, a pipe or what is too large says nothing: a clone may bring any of them. */
export function rulesIn(file: string): string {
  return textOr(() => readRegularFile(file, { maxBytes }));
}

/** The same of what is git's or its user's, which may be a link, as git has it. */
export function gitTextIn(file: string): string {
  return textOr(() => readRegularFile(file, { maxBytes, links: "follow" }));
}

function textOr(read: () => Buffer): string {
  try {
    return read().toString();
  } catch {
    return "";
  }
}

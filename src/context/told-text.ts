import { harmless } from "../base/text/harmless.js";

/**
 * Characters nobody sees in an editor and a model reads all the same: tags, spaces without a width, and the selectors
 * that can carry any text behind a letter. Joiners stay, which letters and pictures are made with.
 */
const hidden = /[\u00ad\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e01ef}]/gu;

/** What a file of a project says, as a model is told it: all of it can be seen by a person who reads the file. */
export function toldText(text: string): string {
  return harmless(text).replaceAll(hidden, "");
}

/** The same on one line, so that it cannot look like something that stands beside it. */
export function toldLine(text: string): string {
  return toldText(text).replaceAll(/\s+/g, " ").trim();
}

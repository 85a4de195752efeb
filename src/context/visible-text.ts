import { harmless } from "../base/text/harmless.js";

/**
 * Characters that editors do not show but models read: tags, zero-width spaces, and variation selectors, which can
 * encode any text after a letter. Joiners stay, because some scripts and emoji need them.
 */
const hidden = /[\u00ad\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e01ef}]/gu;

/** Removes hidden characters from a project file's text, so that the model reads only what a person can see. */
export function visibleText(text: string): string {
  return harmless(text).replaceAll(hidden, "");
}

/** Does the same and puts the text on one line, so that it cannot imitate the lines around it. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, " ").trim();
}

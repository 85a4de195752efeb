import { shortened } from "../../../base/text/shortened.js";
import { visible } from "../../../base/text/visible.js";

const maxChars = 200;

/** A text on one line of bounded length. */
export function shortLine(text: string): string {
  return shortened(visible(shortened(text, maxChars * 2)), maxChars);
}

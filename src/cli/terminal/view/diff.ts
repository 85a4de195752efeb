import { cleanLines, wrapText } from "./rows.js";
import type { View } from "./view.js";

/** A unified diff, with or without file headers, as lines with numbers, signs and colours. */
export function diffLines(
  unifiedDiff: string,
  view: View,
  { maxLines }: { readonly maxLines?: number } = {},
): string[] {
  return cleanLines(unifiedDiff)
    .slice(0, maxLines)
    .flatMap((line) => wrapText(line, view.columns));
}

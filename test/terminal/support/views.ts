import type { Theme, View } from "../../../src/cli/terminal/view/view.js";

function same(text: string): string {
  return text;
}

/** No colour at all: what is shown must be clear without. */
export const noTheme: Theme = {
  name: "none",
  bold: same,
  dim: same,
  italic: same,
  underline: same,
  heading: same,
  code: same,
  accent: same,
  success: same,
  warning: same,
  error: same,
  added: same,
  removed: same,
  syntax: (_role, text) => text,
  link: same,
};

export function viewOf(columns: number): View {
  return { columns, theme: noTheme };
}

import type { Background } from "../screen/screen.js";
import type { Theme } from "./view.js";

export type ThemeChoice = "auto" | "dark" | "light" | "none";

export interface ThemeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the terminal reported. */
  readonly background: Background;
  /** The setting of the user; `auto` follows the background. */
  readonly choice?: ThemeChoice | undefined;
}

const same = (text: string): string => text;

/** The theme for a terminal. */
export function themeFor(_options: ThemeOptions): Theme {
  return {
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
}

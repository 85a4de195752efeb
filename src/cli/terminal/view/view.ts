/** Colours text by its role. Without colour, every function returns the text as it is, or with bold and underline only. */
export interface Theme {
  readonly name: "dark" | "light" | "none";
  readonly bold: Style;
  readonly dim: Style;
  readonly italic: Style;
  readonly underline: Style;
  readonly heading: Style;
  readonly code: Style;
  /** The prompt, links, the selected row of a menu. */
  readonly accent: Style;
  readonly success: Style;
  readonly warning: Style;
  readonly error: Style;
  /** Lines of a diff. */
  readonly added: Style;
  readonly removed: Style;
  /** Highlighted code, by the class names of highlight.js without their prefix (`keyword`, `string`, `comment`). */
  readonly syntax: (role: string, text: string) => string;
  /** An OSC 8 link where the terminal may know them, else the text alone. */
  readonly link: (text: string, url: string) => string;
}

/** Text from outside must have passed `visible` before: a style adds sequences and removes none. */
export type Style = (text: string) => string;

/**
 * The context in which state is turned into lines. A line has no line break and at most `columns` cells; its only control
 * sequences are those of the theme.
 */
export interface View {
  readonly columns: number;
  readonly theme: Theme;
}

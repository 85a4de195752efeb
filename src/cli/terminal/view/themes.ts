import type { Background } from "../screen/screen.js";
import type { Style, Theme } from "./view.js";

/** `auto` follows the background of the terminal. */
export type ThemeChoice = "auto" | "dark" | "light" | "none";

export interface ThemeOptions {
  readonly env: Env;
  /** As reported by the terminal. */
  readonly background: Background;
  /** The setting of the user. */
  readonly choice?: ThemeChoice | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** How many colours a terminal has. `styles`: none, but bold and underline. `text`: not even these. */
type Depth = "text" | "styles" | "16" | "256" | "true";

/** One colour in three forms: an SGR code, a number of the 256 colour palette, red, green and blue. */
type Color = readonly [basic: number, palette: number, rgb: `#${string}`];

type Role =
  | "dim"
  | "heading"
  | "code"
  | "accent"
  | "success"
  | "warning"
  | "error"
  | "added"
  | "removed"
  | "keyword"
  | "string"
  | "number"
  | "title"
  | "type";

const dark: Readonly<Record<Role, Color>> = {
  dim: [90, 245, "#8b909c"],
  heading: [94, 111, "#8fb4ff"],
  code: [36, 116, "#8bd5e6"],
  accent: [94, 111, "#8fb4ff"],
  success: [32, 114, "#98cf7a"],
  warning: [33, 179, "#e3b767"],
  error: [91, 210, "#ff8a8a"],
  added: [32, 114, "#98cf7a"],
  removed: [91, 210, "#ff8a8a"],
  keyword: [35, 177, "#cf9ff5"],
  string: [32, 150, "#b5d68a"],
  number: [33, 216, "#f5b27f"],
  title: [94, 111, "#8fb4ff"],
  type: [36, 80, "#6fd3c8"],
};

/** Every colour has a contrast of at least 4.5 to white. */
const light: Readonly<Record<Role, Color>> = {
  dim: [90, 242, "#676c78"],
  heading: [34, 25, "#2456b8"],
  code: [36, 24, "#0b6378"],
  accent: [34, 25, "#2456b8"],
  success: [32, 22, "#2b6e17"],
  warning: [33, 94, "#8a5a00"],
  error: [31, 124, "#b3202f"],
  added: [32, 22, "#2b6e17"],
  removed: [31, 124, "#b3202f"],
  keyword: [35, 90, "#7a2fa6"],
  string: [32, 22, "#3d6b12"],
  number: [33, 94, "#9a4a00"],
  title: [34, 25, "#2456b8"],
  type: [36, 23, "#0a665c"],
};

/** The classes of highlight.js that have a colour. */
const syntaxRoles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ["keyword", "keyword"],
  ["selector-tag", "keyword"],
  ["name", "keyword"],
  ["section", "title"],
  ["doctag", "keyword"],
  ["string", "string"],
  ["regexp", "string"],
  ["template-tag", "string"],
  ["char", "string"],
  ["link", "string"],
  ["number", "number"],
  ["literal", "number"],
  ["symbol", "number"],
  ["bullet", "number"],
  ["title", "title"],
  ["type", "type"],
  ["built_in", "type"],
  ["attr", "type"],
  ["attribute", "type"],
  ["selector-class", "type"],
  ["selector-id", "type"],
  ["variable", "type"],
  ["template-variable", "type"],
  ["comment", "dim"],
  ["quote", "dim"],
  ["meta", "dim"],
  ["addition", "added"],
  ["deletion", "removed"],
]);

const maxUrlChars = 2_000;
/** Printable ASCII. Other characters have no place in an address that is sent to a terminal. */
const linkable = /^(?:https?|mailto|file):[\u0021-\u007e]+$/i;

/** The theme for a terminal. */
export function themeFor({ env, background, choice = "auto" }: ThemeOptions): Theme {
  const depth = choice === "none" ? withoutColors(env) : depthOf(env);
  const hasLinks = depth !== "text" && knowsLinks(env);
  const link = (text: string, url: string): string =>
    hasLinks && url.length <= maxUrlChars && linkable.test(url)
      ? `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`
      : text;
  if (depth === "text") return { ...colorless(same, same), link };
  const bold = style(1, 22);
  const underline = style(4, 24);
  if (depth === "styles") return { ...colorless(bold, underline), link };
  const name = choice === "auto" ? background : choice === "light" ? "light" : "dark";
  const colors = name === "dark" ? dark : light;
  const color = (role: Role): Style => style(codeOf(colors[role], depth), 39);
  const heading = color("heading");
  const roles = new Map(Array.from(syntaxRoles, ([scope, role]) => [scope, color(role)]));
  return {
    name,
    bold,
    dim: color("dim"),
    italic: style(3, 23),
    underline,
    heading: (text) => bold(heading(text)),
    code: color("code"),
    accent: color("accent"),
    success: color("success"),
    warning: color("warning"),
    error: color("error"),
    added: color("added"),
    removed: color("removed"),
    syntax: (role, text) => roles.get(role)?.(text) ?? text,
    link,
  };
}

function same(text: string): string {
  return text;
}

function colorless(bold: Style, underline: Style): Omit<Theme, "link"> {
  return {
    name: "none",
    bold,
    dim: same,
    italic: same,
    underline,
    heading: bold,
    code: same,
    accent: bold,
    success: same,
    warning: bold,
    error: bold,
    added: same,
    removed: same,
    syntax: (_role, text) => text,
  };
}

/** A style inside of another of the same kind ends both, so the outer one begins again. */
function style(open: number | string, close: number): Style {
  const [start, end] = [`\u001b[${open}m`, `\u001b[${close}m`];
  return (text) => (text === "" ? "" : start + (text.includes(end) ? text.replaceAll(end, end + start) : text) + end);
}

function codeOf([basic, palette, rgb]: Color, depth: "16" | "256" | "true"): string {
  if (depth === "16") return `${basic}`;
  if (depth === "256") return `38;5;${palette}`;
  const value = Number.parseInt(rgb.slice(1), 16);
  return `38;2;${value >> 16};${(value >> 8) & 255};${value & 255}`;
}

function withoutColors({ TERM }: Env): Depth {
  return TERM === "dumb" ? "text" : "styles";
}

function depthOf(env: Env): Depth {
  const { TERM = "", COLORTERM = "", NO_COLOR = "", TERM_PROGRAM = "" } = env;
  if (TERM === "dumb") return "text";
  if (NO_COLOR !== "" || TERM === "vt100" || TERM === "vt220" || TERM.endsWith("-mono")) return "styles";
  if (/^(?:truecolor|24bit)$/i.test(COLORTERM) || TERM.includes("direct") || env["WT_SESSION"] !== undefined)
    return "true";
  // Apple's Terminal sets no COLORTERM, and its versions before macOS 26 have 256 colours.
  if (TERM.includes("256color") || TERM_PROGRAM === "Apple_Terminal") return "256";
  return /kitty|ghostty|alacritty|wezterm|foot|contour/.test(TERM) ? "true" : "16";
}

/** Terminals known to understand OSC 8. Others would ignore it, or print it. */
function knowsLinks(env: Env): boolean {
  const { TERM = "", TERM_PROGRAM = "", TERM_PROGRAM_VERSION = "", VTE_VERSION = "", KONSOLE_VERSION = "" } = env;
  if (TERM_PROGRAM === "tmux") return atLeast(TERM_PROGRAM_VERSION, 3, 4);
  if (TERM.startsWith("screen") || TERM.startsWith("tmux") || TERM === "linux") return false;
  if (/^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio|WarpTerminal|zed)$/.test(TERM_PROGRAM)) return true;
  if (/kitty|ghostty|alacritty|wezterm|foot|contour/.test(TERM)) return true;
  return env["WT_SESSION"] !== undefined || Number(VTE_VERSION) >= 5_000 || Number(KONSOLE_VERSION) >= 201_200;
}

function atLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return first > major || (first === major && second >= minor);
}

import { harmless } from "../../../base/text/harmless.js";
import { passThroughTmux } from "../screen/tmux.js";

const bell = "\u0007";
const maxChars = 120;
/** Terminals that show OSC 9 as a notification, by what they set in the environment. */
const knownPrograms = new Set(["iTerm.app", "WezTerm", "ghostty", "rio", "WarpTerminal"]);

/** The sequence that reports a text outside of the window; empty if it is off. */
export function notificationFor(
  text: string,
  setting: "auto" | "osc" | "bell" | "off",
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (setting === "off") return "";
  const { TERM = "", TERM_PROGRAM = "", TMUX } = env;
  const isKnown = knownPrograms.has(TERM_PROGRAM) || TERM.includes("kitty") || TERM.includes("ghostty");
  if (setting === "bell" || (setting === "auto" && !isKnown)) return bell;
  const words = harmless(text).replaceAll(/[\n;]/g, " ").slice(0, maxChars);
  const sequence = TERM.includes("rxvt") ? `\u001b]777;notify;cody;${words}\u0007` : `\u001b]9;${words}\u0007`;
  // The bell marks the window of tmux.
  return passThroughTmux(sequence, env) + (TMUX === undefined ? "" : bell);
}

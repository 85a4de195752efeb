import { graphemesOf } from "../../../src/cli/terminal/screen/cells.js";
import type { Key } from "../../../src/cli/terminal/screen/key.js";

const modifiers = ["ctrl", "alt", "shift"] as const;

/** A key by its name: `a`, `ctrl+a`, `alt+shift+enter`. */
export function keyOf(name: string): Key {
  const has = (modifier: string): boolean => name.includes(`${modifier}+`) && name !== `${modifier}+`;
  const [ctrl, alt, shift] = [has("ctrl"), has("alt"), has("shift")];
  const bare = modifiers.reduce((rest, modifier) => rest.replace(`${modifier}+`, ""), name);
  return { type: "key", name: bare, ctrl, alt, shift };
}

export function pasteOf(text: string): Key {
  return { type: "paste", text };
}

/** The keys that type a text: one for each code point, as the decoder reports them. */
export function typing(text: string): Key[] {
  return graphemesOf(text).flatMap((grapheme) => Array.from(grapheme, (character) => keyOf(character)));
}

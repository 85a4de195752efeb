import type { Key } from "../screen/key.js";
import type { KillRing } from "./kill-ring.js";
import type { TextBuffer } from "./text-buffer.js";

export type NamedKey = Extract<Key, { type: "key" }>;

/** The state of an editor that its keys change. */
export interface Editing {
  readonly buffer: TextBuffer;
  readonly kills: KillRing;
  /** Moves the cursor up (-1) or down (1) by one row of the screen, or else to another text of the history. */
  moveRow(by: -1 | 1): boolean;
}

/** Such as `ctrl+alt+left`; Shift is part of the name only where the character does not show it. */
export function keyName({ name, ctrl, alt, shift }: NamedKey): string {
  return `${ctrl ? "ctrl+" : ""}${alt ? "alt+" : ""}${shift ? "shift+" : ""}${name}`;
}

/** The character that a key types; undefined for any other key. */
export function typedCharacter({ name, ctrl, alt }: NamedKey): string | undefined {
  const isOne = name.length === ((name.codePointAt(0) ?? 0) > 0xff_ff ? 2 : 1);
  return !ctrl && !alt && isOne && name >= " " && name !== "\u007f" ? name : undefined;
}

import type { Menu } from "../model/menu.js";
import type { Key } from "../screen/key.js";
import { menuLines } from "../view/menu.js";
import type { Pager } from "../view/pager.js";
import type { View } from "../view/view.js";

/** A menu, pager or question that gets the keys before the editor. */
export type Overlay =
  | {
      readonly type: "menu";
      press(key: Key): "changed" | "chosen" | "closed" | "ignored";
      lines(view: View, maxRows: number): string[];
      /** Takes the selected item; the menu is closed already. */
      readonly choose: () => void;
      /** Nothing was chosen. */
      readonly closed?: () => void;
    }
  | { readonly type: "pager"; readonly pager: Pager; readonly closed?: () => void }
  /** Asks for a line, which is written in the editor. */
  | {
      readonly type: "question";
      readonly question: string;
      readonly answer: (text: string) => void;
      readonly closed?: () => void;
    };

/** A menu in the place of the editor; the listener gets the chosen value, or undefined. */
export function menuOverlay<T>(menu: Menu<T>, listener: (value: T | undefined) => void): Overlay {
  return {
    type: "menu",
    press: (key) => menu.press(key),
    lines: (view, maxRows) => menuLines(menu, view, maxRows),
    choose: () => listener(menu.selected),
    closed: () => listener(undefined),
  };
}

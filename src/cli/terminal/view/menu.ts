import { visible } from "../../../base/text/visible.js";
import type { Menu } from "../model/menu.js";
import { cutToCells } from "../screen/cells.js";
import type { View } from "./view.js";

export function menuLines<T>(menu: Menu<T>, view: View, maxRows: number): string[] {
  const { rows, top } = menu.visibleRows(maxRows - 1);
  const lines = rows.map(({ item }, index) => {
    const marker = top + index === menu.index ? "› " : "  ";
    const text = item.description === undefined ? item.label : `${item.label}  ${item.description}`;
    return cutToCells(marker + visible(text), view.columns);
  });
  return [cutToCells(visible(menu.title), view.columns), ...lines];
}

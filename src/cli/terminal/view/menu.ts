import { visible } from "../../../base/text/visible.js";
import type { Menu, MenuRow } from "../model/menu.js";
import { cellWidth, cutToCells, graphemesOf } from "../screen/cells.js";
import type { View } from "./view.js";

/** From this width on there is room for a preview beside the items. */
const minPreviewColumns = 100;
const separator = " │ ";
const [selectedMark, otherMark] = ["› ", "  "];
const gap = "  ";
/** Descriptions begin in the same column unless labels leave no room for them and need more than this part of the width. */
const maxLabelPart = 0.5;
/** Fewer columns are not worth a description. */
const minDescription = 8;

/** The title, what was typed, the items around the selected one, and its preview where there is room. */
export function menuLines<T>(menu: Menu<T>, view: View, maxRows: number): string[] {
  const header = headerLines(menu, view).slice(0, Math.max(0, maxRows - 1));
  const count = maxRows - header.length;
  const { preview } = menu;
  if (preview === undefined || view.columns < minPreviewColumns) return [...header, ...itemLines(menu, view, count)];
  const left = Math.floor(view.columns / 2);
  const right = { ...view, columns: view.columns - left - separator.length };
  const lines = menu.selected === undefined ? [] : preview(menu.selected, right).slice(0, count);
  const items = itemLines(menu, { ...view, columns: left }, count, { onlyWholeDescriptions: true });
  const rows = Array.from({ length: Math.max(lines.length, items.length) }, (_, index) => {
    const item = items[index] ?? "";
    const padding = " ".repeat(left - cellWidth(item));
    return item + padding + view.theme.dim(separator) + cutToCells(lines[index] ?? "", right.columns);
  });
  return [...header, ...rows];
}

function headerLines<T>(menu: Menu<T>, { theme, columns }: View): string[] {
  const count = menu.rows.length === menu.size ? `${menu.size}` : `${menu.rows.length} of ${menu.size}`;
  const title = cutToCells(visible(menu.title), columns);
  const shownCount = cutToCells(`${gap}(${count})`, columns - cellWidth(title));
  const lines = [theme.bold(title) + theme.dim(shownCount)];
  if (!menu.takesText) return lines;
  const typed =
    menu.query === "" ? theme.dim(cutToCells("type to filter", columns - 2)) : endOf(visible(menu.query), columns - 2);
  return [...lines, `${cutToCells("/ ", columns)}${typed}`];
}

/** `onlyWholeDescriptions`: labels come first, because the preview says more than the start of a description. */
function itemLines<T>(
  menu: Menu<T>,
  view: View,
  count: number,
  { onlyWholeDescriptions = false }: { readonly onlyWholeDescriptions?: boolean } = {},
): string[] {
  const { rows, top } = menu.visibleRows(count);
  if (rows.length === 0) return [view.theme.dim(cutToCells(`${otherMark}no match`, view.columns))];
  const room = Math.max(0, view.columns - cellWidth(selectedMark));
  const widest = Math.max(...rows.map(({ item }) => cellWidth(visible(item.label))));
  const widestDescription = Math.max(...rows.map(({ item }) => cellWidth(visible(item.description ?? ""))));
  const isRoomy = widest + gap.length + widestDescription <= room;
  const hasDescriptions = isRoomy || !onlyWholeDescriptions;
  const labelColumns = isRoomy ? widest : Math.min(widest, Math.max(1, Math.floor(room * maxLabelPart)));
  const descriptionColumns = Math.min(minDescription, widestDescription);
  return rows.map((row, index) =>
    itemLine(row, view, {
      isSelected: top + index === menu.index,
      room,
      labelColumns,
      descriptionColumns,
      hasDescriptions,
    }),
  );
}

interface ItemPlace {
  readonly isSelected: boolean;
  /** The columns after the mark. */
  readonly room: number;
  readonly labelColumns: number;
  /** The fewest columns for a description. */
  readonly descriptionColumns: number;
  readonly hasDescriptions: boolean;
}

function itemLine<T>({ item, positions }: MenuRow<T>, { theme, columns }: View, place: ItemPlace): string {
  const { isSelected, room, labelColumns, descriptionColumns, hasDescriptions } = place;
  const mark = cutToCells(isSelected ? selectedMark : otherMark, columns);
  const style = isSelected ? theme.accent : (text: string) => text;
  const { description = "" } = item;
  const hasRoom = room >= labelColumns + gap.length + descriptionColumns;
  const isDescribed = description !== "" && hasDescriptions && hasRoom;
  const label = shownLabel(item.label, isDescribed ? room - gap.length - descriptionColumns : room);
  const parts = label.parts.map(({ text, at }) => (positions.includes(at) ? theme.underline(text) : text)).join("");
  const line = style(mark + parts);
  if (!isDescribed) return line;
  const padding = " ".repeat(Math.max(0, labelColumns - label.width)) + gap;
  return line + padding + theme.dim(shortened(visible(description), room - label.width - padding.length));
}

interface Label {
  readonly parts: readonly { readonly text: string; readonly at: number }[];
  readonly width: number;
}

/** The characters of a label that fit, each with its place in the label. */
function shownLabel(label: string, columns: number): Label {
  const parts: { text: string; at: number }[] = [];
  let at = 0;
  let width = 0;
  const all = graphemesOf(label).map((grapheme) => {
    const part = { text: visible(grapheme), at };
    at += grapheme.length;
    return part;
  });
  const isCut = all.reduce((sum, { text }) => sum + cellWidth(text), 0) > columns;
  for (const part of all) {
    const own = cellWidth(part.text);
    if (width + own > columns - (isCut ? 1 : 0)) break;
    parts.push(part);
    width += own;
  }
  if (!isCut || columns < 1) return { parts, width };
  return { parts: [...parts, { text: "…", at: -1 }], width: width + 1 };
}

function shortened(text: string, columns: number): string {
  return cellWidth(text) <= columns ? text : `${cutToCells(text, columns - 1)}…`;
}

function endOf(text: string, columns: number): string {
  let end = text;
  while (cellWidth(end) > Math.max(0, columns)) end = graphemesOf(end).slice(1).join("");
  return end;
}

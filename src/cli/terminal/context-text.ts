import type { ContextUsage, ItemSize } from "../../messages/compaction.js";
import { fitted } from "../format/cells.js";
import { tokenText } from "../format/token-text.js";
import { visible } from "../../base/text/visible.js";
import { groupsOf, type ItemGroup, kindName } from "./item-kinds.js";

const unknownColumns = 80;
const maxLargest = 10;
const maxBarCells = 40;
/** A shorter bar is not useful. */
const minBarCells = 5;
const nameCells = 14;
const tokenCells = 6;
const shareCells = 6;
const indent = "  ";

/** A report of the context window: the tokens per kind of item, and the largest items. */
export function contextText(usage: ContextUsage, columns: number | undefined): string[] {
  const { model, window, isAssumedWindow, limit, tokens, items } = usage;
  const width = columns || unknownColumns;
  const groups = groupsOf(items);
  const most = Math.max(...groups.map((group) => group.tokens));
  const ofWindow = `${tokenText(window)} tokens${isAssumedWindow ? " (assumed)" : ""}`;
  return [
    `${visible(model)}: ${tokenText(tokens)} of ${ofWindow}, ${share(tokens, window).trim()}`,
    `Compacts above ${tokenText(limit)} tokens`,
    "",
    ...groups.map((group) => groupRow(group, { window, most, width })),
    "",
    "Largest items:",
    ...largest(items).map((item) => itemRow(item, width)),
  ];
}

interface Scale {
  readonly window: number;
  /** The tokens of the longest bar. Relative to the window, most bars would be too short to compare. */
  readonly most: number;
  readonly width: number;
}

function groupRow({ name, tokens }: ItemGroup, { window, most, width }: Scale): string {
  const row = `${indent}${name.padEnd(nameCells)}${tokenText(tokens).padStart(tokenCells)}${share(tokens, window)}`;
  const room = Math.min(maxBarCells, width - row.length - indent.length - 1);
  return room < minBarCells || tokens === 0 ? row : `${row}${indent}${bar(tokens / most, room)}`;
}

function share(tokens: number, window: number): string {
  const percent = Math.round((100 * tokens) / window);
  return (percent === 0 && tokens > 0 ? "<1%" : `${percent}%`).padStart(shareCells);
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bar(part: number, cells: number): string {
  const filled = Math.max(1, Math.round(part * cells * eighths.length));
  return "█".repeat(Math.floor(filled / eighths.length)) + (eighths[filled % eighths.length] ?? "");
}

function largest(items: readonly ItemSize[]): ItemSize[] {
  return items
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens)
    .slice(0, maxLargest);
}

function itemRow({ kind, tokens, text }: ItemSize, width: number): string {
  const row = `${indent}${tokenText(tokens).padStart(tokenCells)}${indent}${kindName(kind).padEnd(nameCells)}`;
  return `${row}${fitted(visible(text), width - row.length - 1)}`.trimEnd();
}

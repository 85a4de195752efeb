import type { Attributes, Cell, Emulator } from "../../test/terminal/support/emulator.js";

/** CSS pixels of one cell. */
const cell = { width: 8, height: 17 };
/** Around the screen. */
const margin = 14;

/** At this size of DejaVu Sans Mono a character is as wide as a cell. */
const fontSize = 13.288;
/** Box drawing and blocks, which are as high as the font: stretched to the height of a cell, so that they join. */
const drawing = /[\u2500-\u259f]/;
const stretched = cell.height / 15.5;
const colours = { foreground: "#d5d9e0", background: "#16181d", cursor: "#c8ccd4" };
/** The 16 colours that themes of terminals define. */
const palette = [
  ["#2b2f37", "#e0707a", "#8fc07c", "#dcb66c", "#6cabec", "#c584d8", "#5fb8c2", "#c3c8d1"],
  ["#747b88", "#f08b94", "#a6d693", "#f0cd86", "#8bc1fa", "#d79fe8", "#7dd0da", "#f2f4f8"],
].flat();
const cubeLevels = [0, 95, 135, 175, 215, 255];

/** Chromium draws nothing into a window that is much lower. */
const minRows = 10;

/** The size of the picture in CSS pixels: without the empty rows at the end. */
export function pageSize(emulator: Emulator): { readonly width: number; readonly height: number } {
  const rows = Math.max(minRows, emulator.screen().length, emulator.cursor.row + 1);
  return { width: emulator.columns * cell.width + 2 * margin, height: rows * cell.height + 2 * margin };
}

/** A page that looks as the emulator's screen does in a terminal. */
export function pageOf(emulator: Emulator): string {
  const { width, height } = pageSize(emulator);
  const runs = emulator.cells().flatMap((cells, row) => runsOf(cells).map((run) => spanOf(run, row)));
  return `<!doctype html><meta charset="utf-8"><style>
html, body { margin: 0; background: ${colours.background}; }
body { position: relative; width: ${width}px; height: ${height}px; overflow: hidden; }
span { position: absolute; white-space: pre; font: ${fontSize}px/${cell.height}px "DejaVu Sans Mono", "Noto Sans Mono CJK JP", "Noto Color Emoji"; height: ${cell.height}px; }
</style><body>${runs.join("")}${emulator.isCursorShown ? cursorOf(emulator) : ""}`;
}

/** Neighbouring cells that look the same; wide characters stand alone, because fonts differ in how wide they are. */
interface Run {
  readonly column: number;
  readonly width: number;
  readonly text: string;
  readonly isDrawing: boolean;
  readonly attributes: Attributes;
}

function runsOf(cells: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  let column = 0;
  let isOpen = false;
  for (const { text, width, attributes } of cells) {
    const last = runs.at(-1);
    const isDrawing = drawing.test(text);
    const isAlike = last?.isDrawing === isDrawing && looksSame(last.attributes, attributes);
    if (isAlike && isOpen && width === 1) {
      runs[runs.length - 1] = { ...last, width: last.width + 1, text: last.text + text };
    } else {
      runs.push({ column, width, text, isDrawing, attributes });
    }
    isOpen = width === 1;
    column += width;
  }
  return runs;
}

function looksSame(one: Attributes, other: Attributes): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function spanOf({ column, width, text, isDrawing, attributes }: Run, row: number): string {
  const foreground = colourOf(attributes.foreground, attributes.bold) ?? colours.foreground;
  const background = colourOf(attributes.background, false);
  const [front, back] = attributes.inverse ? [background ?? colours.background, foreground] : [foreground, background];
  const style = [
    `${place(row, column)};width:${width * cell.width}px;color:${front}`,
    back === undefined ? "" : `background:${back}`,
    attributes.bold ? "font-weight:bold" : "",
    attributes.dim ? `color:color-mix(in srgb, ${front} 58%, ${back ?? colours.background})` : "",
    attributes.italic ? "font-style:italic" : "",
    isDrawing ? `transform:scaleY(${stretched})` : "",
    attributes.underline ? "text-decoration:underline" : "",
  ];
  return text.trim() === "" && back === undefined && !attributes.underline
    ? ""
    : `<span style="${style.filter(Boolean).join(";")}">${escaped(text)}</span>`;
}

/** A bar, so that the character below stays readable. */
function cursorOf({ cursor: { row, column } }: Emulator): string {
  return `<span style="${place(row, column)};width:2px;background:${colours.cursor}"></span>`;
}

function place(row: number, column: number): string {
  return `left:${margin + column * cell.width}px;top:${margin + row * cell.height}px`;
}

/** Bold text in one of the first eight colours is bright, as most terminals show it. */
function colourOf(colour: number | string | undefined, isBold: boolean): string | undefined {
  if (typeof colour !== "number") return colour;
  if (colour < 16) return palette[isBold && colour < 8 ? colour + 8 : colour];
  if (colour >= 232)
    return `rgb(${Array(3)
      .fill(8 + (colour - 232) * 10)
      .join(",")})`;
  const index = colour - 16;
  const levels = [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((level) => cubeLevels[level]);
  return `rgb(${levels.join(",")})`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

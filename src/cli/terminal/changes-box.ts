import type { FileDiff, TurnDiff } from "../../messages/diff.js";
import { visible } from "../../base/text/visible.js";
import { fitted } from "../format/cells.js";
import { numbersText, totalText } from "./stat-text.js";

const leastCells = 37;
const mostCells = 100;
/** The frame takes so many of a row's cells. */
const frameCells = 4;
/** More files of one kind are only counted. */
const maxShown = 20;

/** What a turn changed, for a person, in a box of lines; `columns` is how wide the terminal is. */
export function changesBox(diff: TurnDiff, columns = 80): string {
  const numbers = new Map(diff.files.map((file) => [file.path, file]));
  const rows = [
    ...section("Modified", diff.files_modified, numbers),
    ...section("Created", diff.files_created),
    ...section("Deleted", diff.files_deleted),
    `Total: ${totalText(diff.summary.total_additions, diff.summary.total_deletions)}`,
  ];
  const widest = Math.max(leastCells - frameCells, ...rows.map(width));
  const inner = Math.max(1, Math.min(widest, columns - frameCells, mostCells));
  const line = "─".repeat(inner + 2);
  const framed = (row: string): string => {
    const text = width(row) <= inner ? row : fitted(row, inner);
    return `│ ${text}${" ".repeat(Math.max(0, inner - width(text)))} │`;
  };
  return [`╭${line}╮`, framed("Changes This Turn"), `├${line}┤`, ...rows.map(framed), `╰${line}╯`, ""].join("\n");
}

function section(title: string, paths: readonly string[], numbers?: ReadonlyMap<string, FileDiff>): string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, maxShown).map((path) => `  • ${visible(path)}${changed(numbers?.get(path))}`);
  const rest = paths.length > maxShown ? [`  … and ${paths.length - maxShown} more`] : [];
  return [`${title}:`, ...shown, ...rest, ""];
}

function changed(file: FileDiff | undefined): string {
  return file === undefined ? "" : ` ${numbersText(file)}`;
}

/** Wide characters are those of East Asia and pictures; a box that is a cell off is still a box. */
function width(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (isWide(character.codePointAt(0) ?? 0) ? 2 : 1), 0);
}

function isWide(code: number): boolean {
  return code >= 0x1100 && !(code >= 0x2000 && code < 0x2e80);
}

import { tokenText } from "../../format.js";
import { cellWidth } from "../screen/cells.js";
import { cleanLine, fitText } from "./rows.js";
import type { Theme, View } from "./view.js";

export interface Status {
  readonly model: string;
  readonly effort?: string | undefined;
  /** As it is to be shown, for example `~/project`. */
  readonly folder: string;
  readonly branch?: string | undefined;
  readonly context?: ContextFill | undefined;
  /** In US dollars. */
  readonly cost?: number | undefined;
  /** False if the conversation or its last turn is not on disk. */
  readonly saved: boolean;
  /** `workspace-write`. */
  readonly sandbox: string;
  /** `on-request`. */
  readonly approvals: string;
  /** The other conversations of this process. */
  readonly others?: { readonly running: number; readonly waiting: number } | undefined;
}

interface ContextFill {
  readonly used: number;
  readonly window: number;
  /** The number of tokens above which the history is compacted. */
  readonly compactAt?: number | undefined;
}

interface Part {
  /** Without styles, for its width. */
  readonly text: string;
  readonly styled: string;
  /** Parts with a high number are left out first. */
  readonly rank: number;
  readonly side: "left" | "right";
}

const separator = " · ";
const between = 2;
const gaugeCells = 10;
/** From this share of the compaction point on, the gauge warns. */
const warnFrom = 0.85;
const maxNameCells = 40;

/** The facts about the conversation on one line. Leaves out the least important ones where the line is too narrow. */
export function statusLine(status: Status, { columns, theme }: View): string {
  const parts = partsOf(status, theme);
  while (widthOf(parts) > columns && parts.length > 1) {
    const least = parts.reduce((index, part, at) => (part.rank > (parts[index]?.rank ?? 0) ? at : index), 0);
    parts.splice(least, 1);
  }
  const [only] = parts;
  if (only !== undefined && widthOf(parts) > columns) return theme.bold(fitText(only.text, columns));
  const left = lineOf(parts, "left", theme);
  const right = lineOf(parts, "right", theme);
  if (right === "") return left;
  return left + " ".repeat(columns - widthOf(parts) + (left === "" ? 0 : between)) + right;
}

function partsOf(status: Status, theme: Theme): Part[] {
  const { model, effort, folder, branch, cost, saved, sandbox, approvals, others, context } = status;
  const parts: Part[] = [];
  const add = (side: Part["side"], rank: number, text: string, style: (text: string) => string): void => {
    const clean = cleanLine(text);
    parts.push({ side, rank, text: clean, styled: style(clean) });
  };
  add("left", 0, fitText(model, maxNameCells), theme.bold);
  if (effort !== undefined) add("left", 9, effort, theme.dim);
  add("left", 6, shortFolder(cleanLine(folder)), theme.dim);
  if (branch !== undefined) add("left", 7, fitText(branch, maxNameCells), theme.dim);
  if (others !== undefined && others.waiting > 0) add("right", 3, `${others.waiting} waiting for you`, theme.warning);
  if (others !== undefined && others.running > 0) add("right", 5, `${others.running} running`, theme.accent);
  if (!saved) add("right", 2, "not saved", theme.warning);
  const isUnsafe = sandbox === "danger-full-access";
  add("right", isUnsafe ? 4 : 8, sandbox, isUnsafe ? theme.warning : theme.dim);
  add("right", 11, `approvals ${approvals}`, theme.dim);
  if (saved) add("right", 12, "saved", theme.dim);
  if (cost !== undefined) add("right", 10, `$${cost.toFixed(cost < 10 ? 2 : 0)}`, theme.dim);
  if (context !== undefined) parts.push(contextPart(context, theme));
  return parts;
}

/** How full the context is, with the point at which it is compacted. */
function contextPart({ used, window, compactAt }: ContextFill, theme: Theme): Part {
  const share = window > 0 ? used / window : 0;
  const point = Math.min(
    gaugeCells - 1,
    compactAt === undefined ? gaugeCells : Math.floor((compactAt / window) * gaugeCells),
  );
  const filled = Math.min(gaugeCells, used > 0 ? Math.max(1, Math.round(share * gaugeCells)) : 0);
  const isNear = used >= warnFrom * (compactAt ?? window);
  const style = isNear ? theme.warning : theme.accent;
  const cells = Array.from({ length: gaugeCells }, (_cell, index) => {
    if (compactAt !== undefined && index === point) return index < filled ? style("┃") : theme.dim("┃");
    return index < filled ? style("━") : theme.dim("╌");
  });
  const numbers = ` ${Math.round(share * 100)}% of ${tokenText(window)}`;
  return {
    side: "right",
    rank: 1,
    text: "━".repeat(gaugeCells) + numbers,
    styled: cells.join("") + theme.dim(numbers),
  };
}

/** The end of a long path: the project, not where all projects are. */
function shortFolder(folder: string): string {
  if (cellWidth(folder) <= maxNameCells) return folder;
  const names = folder.split("/");
  let short = names.pop() ?? "";
  while (names.length > 0 && cellWidth(`…/${names.at(-1)}/${short}`) <= maxNameCells) short = `${names.pop()}/${short}`;
  return fitText(`…/${short}`, maxNameCells);
}

function lineOf(parts: readonly Part[], side: Part["side"], theme: Theme): string {
  return parts
    .filter((part) => part.side === side)
    .map(({ styled }) => styled)
    .join(theme.dim(separator));
}

function widthOf(parts: readonly Part[]): number {
  const sides = (["left", "right"] as const).map((side) => {
    const own = parts.filter((part) => part.side === side);
    return own.reduce((sum, { text }) => sum + cellWidth(text), 0) + Math.max(0, own.length - 1) * separator.length;
  });
  return sides.reduce((sum, width) => sum + width, 0) + (sides.every((width) => width > 0) ? between : 0);
}

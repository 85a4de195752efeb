import { relative } from "node:path";
import { quotedWord } from "../../../base/text/quoted-command.js";
import type { EventMsg } from "../../../messages/event.js";
import type { TurnDiff } from "../../../messages/tools/diff.js";
import type { FileChange, FileChanges } from "../../../messages/tools/file-change.js";
import type { Plan } from "../../../messages/tools/plan.js";
import { counted } from "../../../base/text/counted.js";
import { cellWidth } from "../screen/cells.js";
import { changeLines, changesRows, changesTitle, changeWords, type ChangesRow } from "../change-text.js";
import { knowledgeText, planRows, planTitle } from "../tool-text.js";
import { bounded, diffLines } from "./diff.js";
import { cleanLine, cleanLines, elapsedText, fitText, wrapText } from "./rows.js";
import type { Style, View } from "./view.js";

/** Longer inputs are cut; the person has just written them. */
const maxUserLines = 40;
const maxTailLines = 5;
const maxDiffLines = 60;
const maxBoxCells = 100;
const leastBoxCells = 33;
/** The frame of the box: a line and a space on each side. */
const frameCells = 4;
const indent = "  ";

/** An input of the user. */
export function userLines(text: string, view: View): string[] {
  const { theme, columns } = view;
  const rows = cleanLines(text.trimEnd()).flatMap((line) => wrapText(line, columns - indent.length, theme.accent));
  return bounded(rows, maxUserLines, { ...view, columns: columns - indent.length }).map((row, index) =>
    index === 0 ? `${theme.accent(theme.bold("›"))} ${row}` : indented(row),
  );
}

export interface Reasoning {
  readonly elapsedMs: number;
  /** How to read it, for example `ctrl-o to read`. */
  readonly hint?: string | undefined;
}

/** The folded reasoning of a model. */
export function reasoningLine({ elapsedMs, hint }: Reasoning, { columns, theme }: View): string {
  const seconds = Math.max(1, Math.round(elapsedMs / 1_000));
  const text = `∴ Thought for ${elapsedText(seconds * 1_000)}`;
  return theme.dim(fitText(hint === undefined ? text : `${text} · ${cleanLine(hint)}`, columns));
}

export interface ToolSummary {
  /** The call on one line, as `callLine` or `commandLine` returns it. */
  readonly title: string;
  readonly outcome: "done" | "failed" | "refused" | "interrupted";
  /** One line: `exit code 1`, the reason of a failure, or the first line of a result. */
  readonly detail?: string | undefined;
  readonly elapsedMs?: number | undefined;
  /** The number of lines of its output. */
  readonly outputLines?: number | undefined;
  /** The last lines of the output, shown under a failure. */
  readonly tail?: readonly string[] | undefined;
  /** The changes of a patch, shown as diffs. */
  readonly changes?: FileChanges | undefined;
  /** The folder to which the paths of changes are shown relative. */
  readonly cwd?: string | undefined;
}

const maxShortCells = 20;
/** Shorter calls are not worth a number. */
const leastElapsedMs = 1_000;

/** A tool call that has ended: one line, with what failed or changed below it. */
export function toolSummaryLines(tool: ToolSummary, view: View): string[] {
  const { theme, columns } = view;
  const { outcome, elapsedMs = 0, outputLines = 0, changes = {}, cwd } = tool;
  const marks = {
    done: theme.success("✓"),
    failed: theme.error("✗"),
    refused: theme.warning("⊘"),
    interrupted: theme.warning("■"),
  } satisfies Record<ToolSummary["outcome"], string>;
  const short = shortReason(tool);
  const facts = [
    ...(outcome === "done" ? [] : [short ?? outcome]),
    ...(elapsedMs < leastElapsedMs ? [] : [elapsedText(elapsedMs)]),
    ...(outputLines === 0 ? [] : [counted(outputLines, "line")]),
  ];
  const suffix = fitText(facts.map((fact) => ` · ${fact}`).join(""), Math.floor(columns / 2));
  const title = fitText(cleanLine(tool.title), columns - indent.length - cellWidth(suffix));
  const detail = short === undefined ? detailLines(tool, view) : [];
  const tail = outcome === "failed" ? (tool.tail ?? []).slice(-maxTailLines) : [];
  const diffs =
    outcome === "done" ? Object.entries(changes).flatMap((change) => changeDiffLines(change, cwd, view)) : [];
  return [
    `${marks[outcome]} ${title}${theme.dim(suffix)}`,
    ...detail,
    ...tail.map((line) => indented(theme.dim(fitText(`│ ${cleanLine(line)}`, columns - indent.length)))),
    ...diffs,
  ];
}

/** A short reason, such as an exit code, says more than that the call has failed. */
function shortReason({ outcome, detail = "" }: ToolSummary): string | undefined {
  const text = cleanLine(detail).trim();
  return outcome === "failed" && text !== "" && cellWidth(text) <= maxShortCells ? text : undefined;
}

function detailLines({ detail, outcome }: ToolSummary, { columns, theme }: View): string[] {
  if (detail === undefined || detail.trim() === "") return [];
  const style = outcome === "done" ? theme.dim : outcome === "failed" ? theme.error : theme.warning;
  return wrapText(cleanLine(detail), columns - indent.length, style).map(indented);
}

/** The change of one file in a few words, and its lines. */
function changeDiffLines([path, change]: readonly [string, FileChange], cwd: string | undefined, view: View): string[] {
  const inner = { ...view, columns: view.columns - indent.length };
  const words = changeWords(change, path, (name) => quotedWord(inside(name, cwd)));
  const lines = diffLines(unifiedDiffOf(change), inner, { maxLines: maxDiffLines });
  return [inner.theme.dim(fitText(words, inner.columns)), ...lines].map(indented);
}

/** The change of one file as a diff without file headers. */
export function unifiedDiffOf(change: FileChange): string {
  const lines = changeLines(change);
  if (lines.length === 0) return "";
  return [...(change.type === "add" ? [`@@ -0,0 +1,${lines.length} @@`] : []), ...lines].join("\n");
}

function inside(path: string, cwd: string | undefined): string {
  const name = cwd === undefined ? path : relative(cwd, path);
  return name.startsWith("..") ? path : name;
}

/** A plan with a mark for the state of each step. */
export function planLines(plan: Plan, { columns, theme }: View): string[] {
  const rows = planRows(plan).flatMap(({ mark, text, status }) => {
    if (status === undefined) return wrapText(text, columns - indent.length, theme.dim).map(indented);
    const styles = {
      pending: [(line) => line, (line) => line],
      in_progress: [theme.accent, theme.bold],
      completed: [theme.success, theme.dim],
    } satisfies Record<typeof status, readonly [mark: Style, text: Style]>;
    const [markStyle, textStyle] = styles[status];
    return wrapText(text, columns - indent.length * 2, textStyle).map((row, index) =>
      indented(index === 0 ? `${markStyle(mark)} ${row}` : indented(row)),
    );
  });
  return [theme.bold(planTitle), ...rows];
}

/** The box with the changes of a turn. */
export function changesLines(diff: TurnDiff, { columns, theme }: View): string[] {
  const rows = changesRows(diff);
  const widest = Math.max(leastBoxCells, ...rows.map(({ text, numbers = "" }) => cellWidth(text + numbers)));
  const inner = Math.max(1, Math.min(widest, columns - frameCells, maxBoxCells));
  const line = "─".repeat(inner + 2);
  const framed = (row: string): string => {
    const space = " ".repeat(Math.max(0, inner - cellWidth(row)));
    return `${theme.dim("│")} ${row}${space} ${theme.dim("│")}`;
  };
  return [
    theme.dim(`╭${line}╮`),
    framed(theme.bold(fitText(changesTitle, inner))),
    theme.dim(`├${line}┤`),
    ...rows.map((row) => framed(changesRowText(row, inner, theme))),
    theme.dim(`╰${line}╯`),
  ];
}

/** The path is cut rather than the numbers. */
function changesRowText({ text, numbers = "" }: ChangesRow, cells: number, theme: View["theme"]): string {
  const room = Math.max(0, cells - cellWidth(numbers));
  const colored = fitText(numbers, cells)
    .replace(/\+\d+/, (added) => theme.added(added))
    .replace(/(?<=, )-\d+/, (removed) => theme.removed(removed));
  return fitText(text, room) + colored;
}

type NoticeKind = "info" | "warning" | "error";

/** Something that a person should know. */
export function noticeLines(kind: NoticeKind, text: string, { columns, theme }: View): string[] {
  const notices = {
    info: ["·", theme.dim],
    warning: ["!", theme.warning],
    error: ["✗", theme.error],
  } satisfies Record<NoticeKind, readonly [mark: string, style: Style]>;
  const [mark, style] = notices[kind];
  const rows = cleanLines(text.trimEnd()).flatMap((line) => wrapText(line, columns - indent.length, style));
  return rows.map((row, index) => (index === 0 ? `${style(mark)} ${row}` : indented(row)));
}

/** Saved knowledge, and how to remove it. */
export function knowledgeLines(
  msg: Extract<EventMsg, { type: "knowledge_saved" }>,
  { columns, theme }: View,
): string[] {
  const [saved = "", ...rest] = knowledgeText(msg).map(cleanLine);
  const more = rest.flatMap((line) => wrapText(line, columns - indent.length, theme.dim)).map(indented);
  return [...wrapText(saved, columns), ...more];
}

function indented(line: string): string {
  return line === "" ? "" : indent + line;
}

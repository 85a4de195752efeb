import { quotedWord } from "../../../base/text/quoted-command.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { type ApprovalChoice, approvalParts, brokenRows, contentLine, continuation } from "../approval-text.js";
import { changeWords } from "../change-text.js";
import { diffLines } from "./diff.js";
import { unifiedDiffOf } from "./entries.js";
import { cleanLine, fitText, wrapText } from "./rows.js";
import type { View } from "./view.js";

export interface ApprovalPanel {
  readonly request: ApprovalRequest;
  /** The answers, for example those of `choicesOf`. */
  readonly choices: readonly ApprovalChoice[];
  /** The index of the selected choice. */
  readonly selected: number;
  /** The number of open requests, with this one. */
  readonly count: number;
  /** The first row of the command or change to show, where it is too long for the panel. */
  readonly offset?: number | undefined;
  /** How to see all of it, for example `ctrl-o shows all`. */
  readonly hint?: string | undefined;
}

const indent = "  ";
const minRows = 3;

/**
 * The question before a command or a change. The question and the choices are always there; the command is cut to the
 * rows that are left, and says so.
 */
export function approvalLines(panel: ApprovalPanel, view: View, maxRows: number): string[] {
  const { request, count } = panel;
  const { columns, theme } = view;
  const { question, reason, length, wider } = approvalParts(request);
  const head = [
    ...(count > 1 ? [theme.warning(fitText(`${count} requests are waiting`, columns))] : []),
    ...rowsOf(question, columns).map(theme.bold),
    ...(reason === undefined ? [] : reasonRows(`(${reason})`, columns).map(theme.dim)),
  ];
  const notes = [length, wider].flatMap((note) => (note === undefined ? [] : wrapText(note, columns, theme.dim)));
  const choices = choiceLines(panel, view);
  const body = approvalBodyLines(request, view);
  const spare = maxRows - head.length - notes.length - choices.length - 2;
  if (spare >= Math.min(body.length, minRows)) {
    return [...head, "", ...cutBody(body, panel, view, spare), ...notes, "", ...choices];
  }
  // Very few rows: the command first, then as much of the rest as fits.
  const [keys] = [compactChoices(panel, view)];
  const rows = Math.max(1, maxRows - 2);
  return [...head.slice(0, 1), ...cutBody(body, panel, view, rows), keys].slice(-Math.max(1, maxRows));
}

/** All rows of the command or the changes, also for the pager. */
export function approvalBodyLines(request: ApprovalRequest, view: View): string[] {
  const { columns, theme } = view;
  const { changes } = request;
  if (changes === undefined) {
    const [first = "", ...rest] = approvalParts(request).command;
    return [
      ...rowsOf(indent + first, columns).map(theme.bold),
      ...rest.flatMap((line) => rowsOf(indent + line, columns)),
    ];
  }
  const inner = { ...view, columns: columns - indent.length };
  return Object.entries(changes).flatMap(([path, change]) => [
    ...rowsOf(indent + changeWords(change, path, quotedWord), columns).map(theme.bold),
    ...diffLines(shownDiff(unifiedDiffOf(change)), inner).map((line) => indent + line),
  ]);
}

/** A diff in which every character is visible. */
function shownDiff(diff: string): string {
  return diff
    .split("\n")
    .map((line) => line.charAt(0) + contentLine(line.slice(1)))
    .join("\n");
}

function rowsOf(line: string, columns: number): string[] {
  return brokenRows(cleanLine(line), columns);
}

/** Broken at spaces; the bar says that a row is not the start of a text of cody. */
function reasonRows(text: string, columns: number): string[] {
  const [first = "", ...others] = wrapText(cleanLine(text), columns - continuation.length);
  return [first, ...others.map((row) => continuation + row)];
}

function cutBody(body: readonly string[], { offset = 0, hint }: ApprovalPanel, view: View, rows: number): string[] {
  if (body.length <= rows) return [...body];
  const shown = Math.max(1, rows - 1);
  const start = Math.max(0, Math.min(offset, body.length - shown));
  const where = `${indent}lines ${start + 1}-${start + shown} of ${body.length}${hint === undefined ? "" : ` · ${hint}`}`;
  const part = body.slice(start, start + shown);
  return rows < 2 ? part : [...part, view.theme.warning(fitText(where, view.columns))];
}

function choiceLines({ choices, selected }: ApprovalPanel, { columns, theme }: View): string[] {
  return choices.map(({ key, text }, index) => {
    const isSelected = index === selected;
    const label = fitText(`[${key}] ${cleanLine(text)}`, columns - indent.length);
    return isSelected ? theme.accent(`› ${label}`) : indent + label;
  });
}

/** All keys on one line. */
function compactChoices({ choices }: ApprovalPanel, { columns, theme }: View): string {
  const all = choices.map(({ key, text }) => `[${key}] ${cleanLine(text)}`).join("  ");
  const keys = `Allow? ${choices.map(({ key }) => key).join("/")}`;
  return theme.accent(fitText(all.length <= columns ? all : keys, columns));
}

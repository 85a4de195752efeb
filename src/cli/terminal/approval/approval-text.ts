import { quotedCommand, quotedWord } from "../../../base/text/quoted-command.js";
import { shortened } from "../../../base/text/truncate.js";
import { isVisible, visible } from "../../../base/text/visible.js";
import type { ApprovalRequest } from "../../../messages/tools/approval.js";
import { changeLines, changeWords } from "../change-lines.js";
import type { FileChange } from "../../../messages/tools/file-change.js";
import { cellsOf } from "../../format/cells.js";

const unknownColumns = 100;

/** Narrower than this, no text is readable. */
const minColumns = 20;

const continuation = "  ┆ ";

const continuationCells = 5;

/** The text of a longer command is followed by its length. */
const manyChars = 2_000;
const maxReasonChars = 500;

/**
 * The question that a person reads before deciding: the complete command as it will run. Nothing in it can hide or, on
 * a terminal with this many columns, pass for cody's own text.
 */
export function approvalText(request: ApprovalRequest, columns?: number): string {
  const { command, cwd, reason } = request;
  const where = `Run this command in ${quotedWord(cwd)}?`;
  const head = reason ? [where, `(${visible(shortened(reason, maxReasonChars))})`] : [where];
  const shown = commandLines(request).map((line) => `  ${line}`);
  const rows = [...head, "", ...shown, ""].flatMap((line) => brokenRows(line, columns));
  const chars = command.join(" ").length;
  const count = chars > manyChars ? [`The command has ${chars} characters.`, ""] : [];
  return [...rows, ...count, choices, ""].join("\n");
}

const choices =
  "Allow? [y] yes, once  [a] always allow this command in this conversation  [n] no  [s] no, and stop the turn";

function commandLines({ tool, command, changes }: ApprovalRequest): string[] {
  if (changes !== undefined) return ["apply_patch", ...Object.entries(changes).flatMap(patchLines)];
  const [name = "", path, content, ...others] = command;
  if (tool !== "write_file" || path === undefined || content === undefined || others.length > 0) {
    return [quotedCommand(command)];
  }
  return [quotedCommand([name, path]), ...contentLines(content)];
}

/** Placed behind a bar, so that no content can pass for one of our questions. */
function contentLines(content: string): string[] {
  if (content === "") return ["(empty file)"];
  const lines = content.split("\n");
  const end = lines.at(-1) === "" ? [] : ["(no newline at end of file)"];
  if (end.length === 0) lines.pop();
  return [...lines.map((line) => `│ ${contentLine(line)}`), ...end];
}

/** Shows the resulting change instead of the patch, because it has the lines found in the file and their positions. */
function patchLines([path, change]: readonly [string, FileChange]): string[] {
  return [changeWords(change, path, quotedWord), ...changeLines(change).map((line) => `│ ${contentLine(line)}`)];
}

/** A tab counts as visible. */
function contentLine(line: string): string {
  return isVisible(line.replaceAll("\t", " ")) ? line : quotedWord(line);
}

/**
 * Breaks a line into terminal rows. A terminal would continue a long line in the first column, where it could pass for
 * our own text; rows broken here continue behind a mark.
 */
function brokenRows(line: string, columns: number | undefined): string[] {
  const width = Math.max(columns || unknownColumns, minColumns);
  const rows: string[] = [];
  let start = 0;
  let cells = 0;
  for (let at = 0; at < line.length; at += 1) {
    const more = cellsOf(line.charCodeAt(at));
    if (cells + more > width) {
      rows.push(line.slice(start, at));
      start = at;
      cells = continuationCells;
    }
    cells += more;
  }
  rows.push(line.slice(start));
  return rows.map((row, index) => (index === 0 ? row : continuation + row));
}

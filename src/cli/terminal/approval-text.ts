import { quotedCommand, quotedWord } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import { isVisible, visible } from "../../base/text/visible.js";
import type { ApprovalRequest, ReviewDecision } from "../../messages/tools/approval.js";
import type { FileChange } from "../../messages/tools/file-change.js";
import { cellsOf } from "../format.js";
import { changeLines, changeWords } from "./change-text.js";

/** The reason given to the model; the person has seen a longer one. */
export const noApproverReason = "it needs approval, and approvals are not available in this run";

const unknownColumns = 100;

/** Narrower than this, no text is readable. */
const minColumns = 20;

/** Before each row of a line after the first one. */
export const continuation = "  ┆ ";

const continuationCells = 5;

/** The text of a longer command is followed by its length. */
const manyChars = 2_000;

export const maxReasonChars = 500;

const maxInstructionChars = 10_000;

const decisions: ReadonlyMap<string, ReviewDecision> = new Map([
  ["y", "approved"],
  ["yes", "approved"],
  ["a", "approved_for_session"],
  ["n", "denied"],
  ["no", "denied"],
  ["s", "abort"],
]);

export interface ApprovalChoice {
  readonly key: string;
  readonly text: string;
}

/** The answers to a request, in the order in which they are shown. */
export function choicesOf({ proposed_execpolicy_amendment: words }: ApprovalRequest): ApprovalChoice[] {
  return [
    { key: "y", text: "yes, once" },
    { key: "a", text: "always allow this command in this conversation" },
    ...(words === undefined ? [] : [{ key: "p", text: "always allow it in this project" }]),
    { key: "n", text: "no, or n and what to do instead" },
    { key: "s", text: "no, and stop the turn" },
  ];
}

/** The command that answers a request from another terminal. */
export function answerCommand({ approval_id: id, proposed_execpolicy_amendment: words }: ApprovalRequest): string {
  return `cody approvals answer ${id} yes|always|${words === undefined ? "" : "project|"}no|stop`;
}

/** Reads an answer; undefined if it is none. */
export function decisionOf(
  answer: string,
  { proposed_execpolicy_amendment: words }: ApprovalRequest,
): ReviewDecision | undefined {
  const known = decisions.get(answer.toLowerCase());
  if (known !== undefined) return known;
  if (answer.toLowerCase() === "p" && words !== undefined) {
    return { approved_execpolicy_amendment: { proposed_execpolicy_amendment: words } };
  }
  const instructions = /^no?[ ,:]\s*(.+)$/is.exec(answer)?.[1];
  return instructions === undefined ? undefined : { denied: { rejection: instructions.slice(0, maxInstructionChars) } };
}

/**
 * The question that a person reads before deciding: the complete command as it will run. Nothing in it can hide or, on
 * a terminal with this many columns, pass for cody's own text. The last line names the answers: by default the keys.
 */
export function approvalText(request: ApprovalRequest, columns?: number, answers = keyAnswers(request)): string {
  const { question, reason, command, length, wider } = approvalParts(request);
  const head = reason === undefined ? [question] : [question, `(${reason})`];
  const indented = command.map((line) => `  ${line}`);
  const rows = [...head, "", ...indented, ""].flatMap((line) => brokenRows(line, columns));
  const count = length === undefined ? [] : [length, ""];
  return [...rows, ...count, ...(wider === undefined ? [] : [wider]), `Allow? ${answers}`, ""].join("\n");
}

function keyAnswers(request: ApprovalRequest): string {
  return choicesOf(request)
    .map(({ key, text }) => `[${key}] ${text}`)
    .join("  ");
}

/** The facts for a decision about an approval request. No text has control characters, except tabs in the command's lines. */
export interface ApprovalParts {
  readonly question: string;
  readonly reason: string | undefined;
  /** The complete command, with the lines of a file or the changes that it writes. */
  readonly command: readonly string[];
  /** The length of a long command. */
  readonly length: string | undefined;
  /** The other calls that the answer `a` allows. */
  readonly wider: string | undefined;
}

export function approvalParts(request: ApprovalRequest): ApprovalParts {
  const { cwd, reason, session_prefixes, changes } = request;
  const chars = request.command.join(" ").length;
  return {
    question: `${changes === undefined ? "Run this command" : "Make these changes"} in ${quotedWord(cwd)}?`,
    reason: reason ? visible(shortened(reason, maxReasonChars)) : undefined,
    command: commandLines(request),
    length: chars > manyChars ? `The command has ${chars} characters.` : undefined,
    wider: session_prefixes === undefined ? undefined : "If you always allow it, it may also run with more arguments.",
  };
}

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

/** A line of a file with every character visible. A tab counts as visible. */
export function contentLine(line: string): string {
  return isVisible(line.replaceAll("\t", " ")) ? line : quotedWord(line);
}

/**
 * Breaks a line into terminal rows. A terminal would continue a long line in the first column, where it could pass for
 * our own text; rows broken here continue behind a mark.
 */
export function brokenRows(line: string, columns: number | undefined): string[] {
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

import { quotedCommand, quotedWord } from "../../base/text/quoted-command.js";
import { shortened } from "../../base/text/truncate.js";
import { isVisible, visible } from "../../base/text/visible.js";
import type { ApprovalRequest, ReviewDecision } from "../../messages/tools/approval.js";
import type { FileChange } from "../../messages/tools/file-change.js";
import { addKnowledge } from "../../tools/add-knowledge.js";
import type { CommandContext } from "../context.js";
import { cellsOf } from "../format.js";
import { changeLines, changeWords } from "./change-text.js";
import type { Interruption } from "./interruption.js";
import type { Output } from "./output.js";
import { Prompt } from "./prompt/prompt.js";

const maxCommandChars = 500;
/** The reason given to the model; the person has seen a longer one. */
export const noApproverReason = "it needs approval, and approvals are not available in this run";

const commandHelp =
  "  To be asked, run cody in a terminal. To run everything without approval: --approval-policy never --sandbox danger-full-access";

const unknownColumns = 100;

/** Narrower than this, no text is readable. */
const minColumns = 20;

const continuation = "  ┆ ";

const continuationCells = 5;

/** The text of a longer command is followed by its length. */
const manyChars = 2_000;

const maxReasonChars = 500;

/** After this many invalid answers the request is denied. */
const maxTimes = 3;

const maxInstructionChars = 10_000;

const decisions: ReadonlyMap<string, ReviewDecision> = new Map([
  ["y", "approved"],
  ["yes", "approved"],
  ["a", "approved_for_session"],
  ["n", "denied"],
  ["no", "denied"],
  ["s", "abort"],
]);

/** The answers to a request, in the order in which they are shown. */
function choicesOf({ proposed_execpolicy_amendment: words }: ApprovalRequest) {
  return [
    { key: "y", text: "yes, once" },
    { key: "a", text: "always allow this command in this conversation" },
    ...(words === undefined ? [] : [{ key: "p", text: "always allow it in this project" }]),
    { key: "n", text: "no, or n and what to do instead" },
    { key: "s", text: "no, and stop the turn" },
  ];
}

/** Reads an answer; undefined if it is none. */
function decisionOf(
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

/** Asks the person at the terminal, in commands that read nothing else there. Refuses without a terminal. */
export function terminalApprover(context: CommandContext, interruption: Interruption): Approver {
  const refuse = refusingApprover(context);
  return async (request, signal) => {
    const { stdin } = context.terminal;
    const output = questionOutput(context);
    if (stdin.isTTY !== true || output === undefined) return await refuse(request, signal);
    const prompt = await Prompt.open(stdin, output.stream, {
      line: () => undefined,
      interrupt: () => interruption.interrupt(),
      end: () => undefined,
    });
    try {
      return await askForApproval(request, approvalPrompt(prompt, output), signal);
    } finally {
      prompt.close();
    }
  };
}

/** Stdout is for the answers, and with --json for events only. */
function questionOutput({ terminal: { stdout, stderr }, flags }: CommandContext): Output | undefined {
  if (stderr.isTTY) return stderr;
  return stdout.isTTY && !flags.json ? stdout : undefined;
}

/** Shows text to a person and asks them for a line. */
interface ApprovalPrompt {
  /** The width of the terminal, if known. */
  readonly columns: number | undefined;
  show(text: string): Promise<void>;
  /** Resolves with the line typed after the question was shown; undefined if there was none. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export function approvalPrompt(prompt: Prompt, output: Output): ApprovalPrompt {
  return {
    columns: output.columns,
    show: (text) => output.write(text),
    ask: (question, signal) => prompt.ask(question, signal),
  };
}

/** Aborting the signal ends the question with `abort`. */
export async function askForApproval(
  request: ApprovalRequest,
  prompt: ApprovalPrompt,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  await prompt.show(approvalText(request, prompt.columns));
  const keys = choicesOf(request).map(({ key }) => key);
  for (let times = 1; ; times += 1) {
    const answer = await prompt.ask(`${keys.join("/")} › `, signal);
    if (signal.aborted) return "abort";
    const decision = decisionOf(answer?.trim() ?? "", request);
    if (decision !== undefined) return decision;
    if (times === maxTimes) break;
    await prompt.show(`Please answer with ${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}.\n`);
  }
  await prompt.show("Treated as no.\n");
  return "denied";
}

/**
 * The question that a person reads before deciding: the complete command as it will run. Nothing in it can hide or, on
 * a terminal with this many columns, pass for cody's own text.
 */
export function approvalText(request: ApprovalRequest, columns?: number): string {
  const { command, cwd, reason } = request;
  const where = `Run this command in ${quotedWord(cwd)}?`;
  const head = reason ? [where, `(${visible(shortened(reason, maxReasonChars))})`] : [where];
  const indented = commandLines(request).map((line) => `  ${line}`);
  const rows = [...head, "", ...indented, ""].flatMap((line) => brokenRows(line, columns));
  const chars = command.join(" ").length;
  const count = chars > manyChars ? [`The command has ${chars} characters.`, ""] : [];
  const choices = `Allow? ${choicesOf(request)
    .map(({ key, text }) => `[${key}] ${text}`)
    .join("  ")}`;
  const wider = request.session_prefixes === undefined ? [] : ["Always allowed, it may have more arguments too."];
  return [...rows, ...count, ...wider, choices, ""].join("\n");
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

/** Refuses every request at once, for runs in which nobody can be asked. */
export function refusingApprover(context: CommandContext): Approver {
  return async (request) => {
    const { text, help } = isKnowledgeRequest(request) ? skippedKnowledge(request) : refusedCommand(request);
    context.log("info", text);
    await context.tell(`${text}\n${help}`);
    return { denied: { rejection: noApproverReason } };
  };
}

/** True for requests to save knowledge: an answer is complete without it. */
export function isKnowledgeRequest({ tool }: ApprovalRequest): boolean {
  return tool === addKnowledge.name;
}

function refusedCommand({ command }: ApprovalRequest): { text: string; help: string } {
  const commandText = shortened(quotedCommand(command), maxCommandChars);
  return { text: `Refused: needs approval, but cody cannot ask in this run: ${commandText}`, help: commandHelp };
}

function skippedKnowledge({ command, reason }: ApprovalRequest): { text: string; help: string } {
  const commandText = shortened(quotedCommand(command), maxCommandChars);
  const why = visible(shortened(reason ?? "it needs approval", maxReasonChars));
  return {
    text: `Knowledge not saved: needs approval, but cody cannot ask in this run: ${commandText}`,
    help: `  Approval is needed because: ${why}. To save it yourself: cody knowledge add`,
  };
}

/** Decides an approval request. When the signal is aborted, the decision is no longer needed. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ReviewDecision>;

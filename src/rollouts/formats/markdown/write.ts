import { shownText } from "../../../base/text/shown-lines.js";
import { visible } from "../../../base/text/visible.js";
import { toolLine } from "../export/call-line.js";
import { type Attachment, outputText } from "../../history-messages.js";
import { countText, factRows, minuteOf, turnTitle, type WriterInput } from "../export/export-facts.js";
import { partsOf, type Part } from "../export/parts.js";
import { readTurns, type ExportedTurn } from "../export/turns.js";

const minFence = 3;

const maxHeading = 6;

const below = 2;

/** Matches the header with which commands report to the model. */
const report = /^Exit code: (-?\d+)\nWall time: [^\n]*\n([^]*?)Output:(?:\n|$)/;

/** Writes a readable transcript: messages in full, tool output shortened as in the terminal. */
export async function* writeMarkdown({ survey, batches }: WriterInput): AsyncGenerator<string> {
  yield `# ${plainText(survey.title)}\n\n`;
  for (const [label, value] of factRows(survey)) yield `- ${label}: ${plainText(value)}\n`;
  for await (const turn of readTurns(batches)) yield turnText(turn);
}

function turnText(turn: ExportedTurn): string {
  const title = turnTitle(turn);
  const heading = `## ${turn.number}. ${plainText(title === "" ? "(nothing was asked)" : title)}`;
  const blocks = partsOf(turn.entries).flatMap(partText);
  return `\n${[heading, `*${minuteOf(turn.startedAt)}*`, ...blocks, ...endText(turn)].join("\n\n")}\n`;
}

function partText(part: Part): string[] {
  switch (part.type) {
    case "user":
      return ["**You**", quoted([part.text, ...part.attachments.map(attachmentText)].join("\n\n"))];
    case "pinned":
      return ["**You**, pinned", quoted(part.text)];
    case "assistant":
      return part.text.trim() === "" ? [] : ["**Assistant**", proseOf(part.text)];
    case "thought":
      return [quoted(`*Thought:* ${part.text}`)];
    case "call":
      return [callText(part)];
    case "summary":
      return ["**Summary of the earlier conversation**", quoted(part.text)];
    case "compacted":
      return [emphasized(compactedText(part)), ...(part.summary === "" ? [] : [quoted(part.summary)])];
    case "replaced":
      return [emphasized(`The history was replaced by ${countText(part.items, "item")}`)];
    case "rolled_back":
      return [emphasized(`${countText(part.turns, "turn")} before this reverted`)];
    case "other":
      return [`*(${plainText(part.kind)})*`];
    case "context":
      break;
  }
  // Context about the environment is left out, because it would bury the conversation.
  return [];
}

function callText({ name, given, output }: Extract<Part, { type: "call" }>): string {
  const line = name === "" ? "(a result without a call)" : toolLine(name, given);
  return fenced(`${line}\n${output === undefined ? "  (no result)\n" : resultText(outputText(output))}`);
}

/** Shows output like the terminal: the printed text, and the exit code only for a failure. */
function resultText(result: string): string {
  const [whole = "", code = "0", notes = ""] = report.exec(result) ?? [];
  const end = code === "0" ? "" : `  exit code ${code}\n`;
  return shownText(notes + result.slice(whole.length)) + end;
}

function compactedText({ tokens }: Extract<Part, { type: "compacted" }>): string {
  return tokens === undefined
    ? "The history was compacted here"
    : `The history was compacted here: ${tokens[0]} → ${tokens[1]} tokens`;
}

function endText({ status, failure }: ExportedTurn): string[] {
  if (status === "aborted") return [emphasized("Interrupted")];
  if (status === "failed") return [emphasized(`Failed: ${plainText(failure ?? "")}`)];
  return status === "open" ? [emphasized("Not finished")] : [];
}

function emphasized(text: string): string {
  return `— *${text}* —`;
}

function attachmentText({ type }: Attachment): string {
  return `*(${type === "input_image" ? "an image" : "audio"})*`;
}

/** Writes a fenced block with a fence longer than any inside it. */
function fenced(text: string, language = ""): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(Math.max(minFence, ...runs.map((run) => run.length + 1)));
  return `${fence}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}

/** Writes a block quote, which also ends any Markdown construct opened in the text. */
function quoted(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** Puts a text on one line and escapes all Markdown. */
function plainText(text: string): string {
  return visible(text).replaceAll(/[\\`*_{}[\]<>#|~&]/g, "\\$&");
}

/**
 * Writes a model's Markdown so that it cannot affect the rest of the document: open code blocks are closed, headings
 * rank below those of the transcript, and HTML is escaped.
 */
function proseOf(text: string): string {
  const written: string[] = [];
  let prose: string[] = [];
  let fence: string | undefined;
  const endProse = (): void => {
    written.push(...withoutHtml(prose));
    prose = [];
  };
  for (const line of text.trim().split("\n")) {
    const begins = fence === undefined ? fenceOf(line) : undefined;
    if (begins !== undefined || fence !== undefined) {
      endProse();
      if (fence !== undefined && closes(line, fence)) fence = undefined;
      else fence ??= begins;
      written.push(line);
    } else {
      prose.push(lowered(line));
      if (line.trim() === "") endProse();
    }
  }
  endProse();
  return [...written, ...(fence === undefined ? [] : [fence])].join("\n");
}

function fenceOf(line: string): string | undefined {
  const [, mark, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  return mark?.startsWith("`") === true && rest.includes("`") ? undefined : mark;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return text.startsWith(fence) && text === fence.charAt(0).repeat(text.length);
}

function lowered(line: string): string {
  const [, marks = ""] = /^ {0,3}(#{1,6})(?:\s|$)/.exec(line) ?? [];
  if (marks === "") return line;
  return "#".repeat(Math.min(maxHeading, marks.length + below)) + line.trimStart().slice(marks.length);
}

/** Escapes HTML outside of code spans; with unbalanced backticks, which may span lines, it escapes everything. */
function withoutHtml(lines: readonly string[]): string[] {
  const pieces = lines.map((line) => (line.includes("\\`") ? undefined : codeAndText(line)));
  const areBalanced = pieces.every((each) => each !== undefined);
  return lines.map((line, index) => {
    const each = areBalanced ? pieces[index] : undefined;
    return each === undefined
      ? escaped(line)
      : each.map((piece, at) => (at % 2 === 1 ? piece : escaped(piece))).join("");
  });
}

/** Splits a line into alternating text and code; undefined when a backtick is unmatched. */
function codeAndText(line: string): string[] | undefined {
  const pieces: string[] = [];
  let from = 0;
  for (;;) {
    const begin = line.indexOf("`", from);
    if (begin === -1) return [...pieces, line.slice(from)];
    const [run = ""] = /^`+/.exec(line.slice(begin)) ?? [];
    const rest = line.slice(begin + run.length);
    const end = [...rest.matchAll(/`+/g)].find(([other]) => other === run);
    if (end === undefined) return undefined;
    const to = begin + run.length + end.index + run.length;
    pieces.push(line.slice(from, begin), line.slice(begin, to));
    from = to;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/<(?=[A-Za-z/!?])/g, "\\<");
}

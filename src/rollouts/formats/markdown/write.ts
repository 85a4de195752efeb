import { toolLine } from "../../../messages/call-line.js";
import { shownText } from "../../../base/text/shown-lines.js";
import { type Attachment, outputText } from "../../history-messages.js";
import { countText, factRows, minuteOf } from "../export/facts-text.js";
import type { Writing } from "../export/writing.js";
import { fenced, plainText, proseOf, quoted } from "./text.js";
import { partsOf, type Part } from "../export/parts.js";
import { playedTurns } from "../export/played-turns.js";
import { titleOf } from "../export/survey.js";
import type { ExportedTurn } from "../export/turns.js";

/** A transcript to read: what was said in full, of what tools did as much as the terminal shows. */
export async function* writeMarkdown({ survey, batches }: Writing): AsyncGenerator<string> {
  yield `# ${plainText(survey.title)}\n\n`;
  for (const [label, value] of factRows(survey)) yield `- ${label}: ${plainText(value)}\n`;
  for await (const turn of playedTurns(batches)) yield turnText(turn);
}

function turnText(turn: ExportedTurn): string {
  const title = titleOf(turn);
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
      return ["**Summary of what came before**", quoted(part.text)];
    case "compacted":
      return [mark(compactedText(part)), ...(part.summary === "" ? [] : [quoted(part.summary)])];
    case "replaced":
      return [mark(`The history was replaced by ${countText(part.items, "item")}`)];
    case "rolled_back":
      return [mark(`${countText(part.turns, "turn")} before this taken back`)];
    case "other":
      return [`*(${plainText(part.kind)})*`];
    case "context":
      break;
  }
  // What the model was told about where it is would bury what was said.
  return [];
}

function callText({ name, given, output }: Extract<Part, { type: "call" }>): string {
  const line = name === "" ? "(a result without its call)" : toolLine(name, given);
  return fenced(`${line}\n${output === undefined ? "  (no result)\n" : resultText(outputText(output))}`);
}

/** How commands report to the model. */
const report = /^Exit code: (-?\d+)\nWall time: [^\n]*\n([^]*?)Output:(?:\n|$)/;

/** As the terminal does: what was printed, and how it ended only when it did not end well. */
function resultText(result: string): string {
  const [whole = "", code = "0", notes = ""] = report.exec(result) ?? [];
  const end = code === "0" ? "" : `  exit code ${code}\n`;
  return shownText(notes + result.slice(whole.length)) + end;
}

function compactedText({ tokens }: Extract<Part, { type: "compacted" }>): string {
  return tokens === undefined
    ? "Here the history was compacted"
    : `Here the history was compacted: ${tokens[0]} → ${tokens[1]} tokens`;
}

function endText({ status, failure }: ExportedTurn): string[] {
  if (status === "aborted") return [mark("Interrupted")];
  if (status === "failed") return [mark(`Failed: ${plainText(failure ?? "")}`)];
  return status === "open" ? [mark("Not finished")] : [];
}

function mark(text: string): string {
  return `— *${text}* —`;
}

function attachmentText({ type }: Attachment): string {
  return `*(${type === "input_image" ? "an image" : "a sound"})*`;
}

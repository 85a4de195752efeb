import { isRecord } from "../../../base/is-record.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import { toolLine } from "../export/call-line.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import type { ToolOutputContent } from "../../../messages/response-item.js";
import type { Attachment } from "../../history-messages.js";
import { countText, minuteOf, turnTitle } from "../export/export-facts.js";
import { partsOf, type Part } from "../export/parts.js";
import type { ExportedTurn } from "../export/turns.js";
import { diffHtml, codeHtml, imageHtml, plainHtml, type Prose, escapeHtml } from "./prose.js";

const maxInlineChars = 80;

const exitCodes = [
  /^Exit code: (-?\d{1,10})$/m,
  /^Process exited with code (-?\d{1,10})$/m,
  /"metadata":\{"exit_code":(-?\d{1,10})/,
];

/** Only this much of an output's start and end is searched: the exit code precedes the text or, in JSON, follows it. */
const edgeChars = 2_000;

export const untitled = "(nothing was asked)";

export function turnHtml(turn: ExportedTurn, prose: Prose): string {
  const { number, startedAt, usage, model } = turn;
  const title = turnTitle(turn) || untitled;
  const tokens = usage.total_tokens === 0 ? [] : [countText(usage.total_tokens, "token")];
  const notes = [minuteOf(startedAt), ...(model === undefined ? [] : [model]), ...tokens].filter((note) => note !== "");
  return [
    `<section id="turn-${number}">\n`,
    `<h2><a href="#turn-${number}">${number}</a> <span dir="auto">${escapeHtml(title)}</span></h2>\n`,
    `<p class="when">${escapeHtml(notes.join(" · "))}</p>\n`,
    ...partsOf(turn.entries).map((part) => partHtml(part, prose)),
    endHtml(turn),
    "</section>\n",
  ].join("");
}

function partHtml(part: Part, prose: Prose): string {
  switch (part.type) {
    case "user":
    case "pinned": {
      const label = part.type === "user" ? "You" : "You, pinned";
      return `<article class="user"><h3>${label}</h3>${plainHtml(part.text)}${part.attachments.map(attachmentHtml).join("")}</article>\n`;
    }
    case "assistant":
      if (part.text.trim() === "") return "";
      return `<article class="assistant"><h3>Assistant</h3>${prose(part.text)}</article>\n`;
    case "thought":
      return detailsHtml("thought", "Thought", prose(part.text));
    case "context":
      return detailsHtml("context", "Context for the model", plainHtml(part.text));
    case "summary":
      return detailsHtml("context", "Summary of the earlier conversation", prose(part.text));
    case "call":
      return callHtml(part);
    case "compacted":
      return compactedHtml(part, prose);
    case "replaced":
      return mark(`The history was replaced by ${countText(part.items, "item")}`);
    case "rolled_back":
      return mark(`${countText(part.turns, "turn")} before this reverted`);
    case "other":
      break;
  }
  return detailsHtml("context", part.kind, codeHtml(part.json));
}

function compactedHtml({ tokens, summary }: Extract<Part, { type: "compacted" }>, prose: Prose): string {
  const [before, after] = tokens ?? [];
  const sizes =
    before === undefined || after === undefined ? "" : `: ${countText(before, "token")} → ${countText(after, "token")}`;
  return (
    mark(`The history was compacted here${sizes}`) +
    (summary === "" ? "" : detailsHtml("context", "Summary", prose(summary)))
  );
}

function endHtml({ status, failure }: ExportedTurn): string {
  if (status === "aborted") return mark("Interrupted");
  if (status === "failed") return mark(`Failed: ${failure ?? ""}`);
  return status === "open" ? mark("Not finished") : "";
}

function attachmentHtml(part: Attachment): string {
  return `<p>${part.type === "input_image" ? imageHtml(part.image_url, "") : "[audio]"}</p>`;
}

function detailsHtml(kind: string, title: string, content: string): string {
  return `<details class="${kind}"><summary>${escapeHtml(title)}</summary>${content}</details>\n`;
}

function mark(text: string): string {
  return `<p class="mark">${escapeHtml(text)}</p>\n`;
}

/** Renders a collapsible tool call with its arguments and result. */
function callHtml({ name, given, output }: Extract<Part, { type: "call" }>): string {
  const line = name === "" ? "A result without a call" : toolLine(name, given);
  const sections = [
    ...(name === "" ? [] : [`<h4>Arguments of ${escapeHtml(name)}</h4>${argumentsHtml(given)}`]),
    `<h4>Result</h4>${output === undefined ? "<p>None</p>" : outputHtml(output)}`,
  ];
  return `<details class="call"><summary><code>${escapeHtml(line)}</code>${badgeOf(output)}</summary>${sections.join("")}</details>\n`;
}

function argumentsHtml(argumentsText: string): string {
  const value = jsonOrUndefined(argumentsText);
  if (!isRecord(value)) return codeHtml(argumentsText);
  const { old_string: before, new_string: after } = value;
  const isEdit = typeof before === "string" && typeof after === "string";
  const rows = Object.entries(value).filter(([key]) => !isEdit || !["old_string", "new_string"].includes(key));
  const edit = isEdit ? diffHtml(`${signed(before, "-")}${signed(after, "+")}`) : "";
  return rows.map(([key, each]) => argumentHtml(key, each)).join("") + edit;
}

function signed(text: string, sign: "-" | "+"): string {
  if (text === "") return "";
  return `${text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line)
    .join("\n")}\n`;
}

/** Shows short values beside their name and others as a block. */
function argumentHtml(key: string, value: unknown): string {
  const text = valueText(key, value);
  return text.length > maxInlineChars || /[\r\n]/.test(text)
    ? `<h5>${escapeHtml(key)}</h5>${codeHtml(text)}`
    : `<p class="given"><span>${escapeHtml(key)}</span> <code>${escapeHtml(text)}</code></p>`;
}

function valueText(key: string, value: unknown): string {
  if (typeof value === "string") return value;
  const isCommand = key === "command" && Array.isArray(value) && value.every((word) => typeof word === "string");
  return isCommand ? quotedCommand(value) : jsonText(value);
}

function outputHtml(output: ToolOutputContent): string {
  if (typeof output === "string") return codeHtml(output);
  return output
    .map((part) => {
      if ("text" in part) return codeHtml(part.text);
      return part.type === "input_image" ? `<p>${imageHtml(part.image_url, "")}</p>` : "<p>[audio]</p>";
    })
    .join("");
}

function badgeOf(output: ToolOutputContent | undefined): string {
  if (output === undefined) return ` <span class="badge">no result</span>`;
  if (typeof output !== "string") return "";
  const edges = output.length <= 2 * edgeChars ? output : output.slice(0, edgeChars) + output.slice(-edgeChars);
  const [code] = exitCodes.flatMap((pattern) => pattern.exec(edges)?.[1] ?? []);
  if (code === undefined || code === "0") return "";
  return ` <span class="badge">exit ${escapeHtml(code)}</span>`;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return "(nested too deeply to show)";
  }
}

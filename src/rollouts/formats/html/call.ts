import { toolLine } from "../../../messages/call-line.js";
import { isRecord } from "../../../base/is-record.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import type { ToolOutputContent } from "../../../messages/response-item.js";
import type { Part } from "../export/parts.js";
import { diffHtml } from "./diff.js";
import { escaped } from "./escape.js";
import { codeHtml, imageHtml } from "./prose.js";
import { jsonOrUndefined } from "../../../messages/parse.js";

/** A call that can be opened: what the model asked for, and what came of it. */
export function callHtml({ name, given, output }: Extract<Part, { type: "call" }>): string {
  const line = name === "" ? "A result without its call" : toolLine(name, given);
  const sections = [
    ...(name === "" ? [] : [`<h4>Arguments of ${escaped(name)}</h4>${argumentsHtml(given)}`]),
    `<h4>Result</h4>${output === undefined ? "<p>None</p>" : outputHtml(output)}`,
  ];
  return `<details class="call"><summary><code>${escaped(line)}</code>${badgeOf(output)}</summary>${sections.join("")}</details>\n`;
}

function argumentsHtml(given: string): string {
  const value = jsonOrUndefined(given);
  if (!isRecord(value)) return codeHtml(given);
  const { old_string: before, new_string: after } = value;
  const isEdit = typeof before === "string" && typeof after === "string";
  const rows = Object.entries(value).filter(([key]) => !isEdit || !["old_string", "new_string"].includes(key));
  const edit = isEdit ? diffHtml(`${signed(before, "-")}${signed(after, "+")}`) : "";
  return rows.map(([key, each]) => givenHtml(key, each)).join("") + edit;
}

function signed(text: string, sign: "-" | "+"): string {
  if (text === "") return "";
  return `${text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line)
    .join("\n")}\n`;
}

/** What fits on a line stands beside its name. */
function givenHtml(key: string, value: unknown): string {
  const text = valueText(key, value);
  return text.length > maxInlineChars || /[\r\n]/.test(text)
    ? `<h5>${escaped(key)}</h5>${codeHtml(text)}`
    : `<p class="given"><span>${escaped(key)}</span> <code>${escaped(text)}</code></p>`;
}

const maxInlineChars = 80;

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
      return part.type === "input_image" ? `<p>${imageHtml(part.image_url, "")}</p>` : "<p>[a sound]</p>";
    })
    .join("");
}

const exitCodes = [
  /^Exit code: (-?\d{1,10})$/m,
  /^Process exited with code (-?\d{1,10})$/m,
  /"metadata":\{"exit_code":(-?\d{1,10})/,
];
/** What says how it ended stands before what was printed, or, as JSON, right behind it. */
const edgeChars = 2_000;

function badgeOf(output: ToolOutputContent | undefined): string {
  if (output === undefined) return ` <span class="badge">no result</span>`;
  if (typeof output !== "string") return "";
  const edges = output.length <= 2 * edgeChars ? output : output.slice(0, edgeChars) + output.slice(-edgeChars);
  const [code] = exitCodes.flatMap((pattern) => pattern.exec(edges)?.[1] ?? []);
  if (code === undefined || code === "0") return "";
  return ` <span class="badge">exit ${escaped(code)}</span>`;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return "(nested too deep to be shown)";
  }
}

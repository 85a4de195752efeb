import { isRealUserMessage } from "../../base/codex/context-message.js";
import { isRecord } from "../../base/is-record.js";
import type { LineObject } from "../file/lines.js";
import { foreignUserText } from "../formats/lines/detect-format.js";

const maxChars = 80;

/** Characters examined: enough for `maxChars` code points of any kind, because a message may have millions. */
const maxExaminedChars = 4 * maxChars;

/** Returns the user's text in a line of any format; undefined if it has none. Loads no schema library. */
export function userText(line: LineObject): string | undefined {
  const payload = isRecord(line["payload"]) ? line["payload"] : {};
  if (line.type === "response_item") return messageText(payload["role"], payload["content"], payload["type"]);
  if (line.type !== "event_msg") return foreignUserText(line);
  if (payload["type"] !== "user_message") return undefined;
  // A message with only images has no text.
  return messageText("user", [{ text: payload["message"] ?? "" }], "message");
}

function messageText(role: unknown, content: unknown, type: unknown): string | undefined {
  if (!isRealUserMessage({ type: typeof type === "string" ? type : "", role, content })) return undefined;
  return contentText(content);
}

/** Joins the texts of a message's parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}

/** Returns the first line of a text, shortened for a list; undefined when the text is blank. */
export function titleOf(text: string): string | undefined {
  const line =
    text
      .trimStart()
      .slice(0, maxExaminedChars)
      .split(/[\r\n]/, 1)[0]
      ?.trimEnd() ?? "";
  if (line === "") return undefined;
  const chars = Array.from(line);
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join("")}…`;
}

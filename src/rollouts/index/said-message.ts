import { isRealUserMessage } from "../../messages/user-message.js";
import { contentText } from "../user-text.js";

/** What can be searched for: something somebody said, a tool's call or its output. */
export interface SaidMessage {
  /** Where its line begins in the file; of several from one line each has the next number. */
  readonly offset: number;
  readonly role: "user" | "assistant" | "tool";
  readonly kind: "message" | "call" | "output";
  readonly text: string;
  readonly toolName: string | null;
}

type Item = Readonly<Record<string, unknown>>;

const maxSaidChars = 256 * 1024;
/** What a tool was given or has put out is mostly not what somebody remembers. */
const maxToolChars = 16 * 1024;

/** What an item says, if it can be searched for. `calls` are the names of the tools whose outputs are still to come. */
export function saidIn(item: Item, calls: Record<string, string>): Omit<SaidMessage, "offset"> | undefined {
  const { type, role } = item;
  switch (type) {
    case "message":
      if (role === "assistant") return said("assistant", contentText(item["content"]));
      return isRealUserMessage({ type, role, content: item["content"] })
        ? said("user", contentText(item["content"]))
        : undefined;
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return called(item, calls);
    case "function_call_output":
    case "custom_tool_call_output":
      return answered(item, calls);
    default:
      return undefined;
  }
}

function said(role: "user" | "assistant", text: string): Omit<SaidMessage, "offset"> {
  return { role, kind: "message", text: plain(text, maxSaidChars), toolName: null };
}

function called(item: Item, calls: Record<string, string>): Omit<SaidMessage, "offset"> {
  const name = typeof item["name"] === "string" ? item["name"] : "shell";
  if (typeof item["call_id"] === "string") calls[item["call_id"]] = name;
  const input = item["arguments"] ?? item["input"] ?? item["action"];
  return { role: "assistant", kind: "call", text: plain(textOf(input), maxToolChars), toolName: name };
}

function answered(item: Item, calls: Record<string, string>): Omit<SaidMessage, "offset"> {
  const id = typeof item["call_id"] === "string" ? item["call_id"] : "";
  const toolName = Object.hasOwn(calls, id) ? (calls[id] ?? null) : null;
  // Kept only until it is answered: they are written down with everything else that is known.
  Reflect.deleteProperty(calls, id);
  const { output } = item;
  const text = Array.isArray(output) ? contentText(output) : textOf(output);
  return { role: "tool", kind: "output", text: plain(text, maxToolChars), toolName };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** What a database can keep exactly as it is: no half of a pair, and no NUL, with which a text would end. */
function plain(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed().replaceAll("\0", " ");
}

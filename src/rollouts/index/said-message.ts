import { isRealUserMessage } from "../../base/codex/context-message.js";
import { contentText } from "../user-text.js";

/** A searchable message, tool call or tool output. */
export interface SearchableMessage {
  /** Offset of the line in the file; further messages of the same line get consecutive numbers. */
  readonly offset: number;
  readonly role: "user" | "assistant" | "tool";
  readonly kind: "message" | "call" | "output";
  readonly text: string;
  readonly toolName: string | null;
}

type Item = Readonly<Record<string, unknown>>;

const maxMessageChars = 256 * 1024;
/** Tool input and output is limited more strictly, because people rarely remember it. */
const maxToolChars = 16 * 1024;

/** Returns the searchable text of an item. `calls` has the tool names of calls without an output yet. */
export function searchableText(
  item: Item,
  calls: Record<string, string>,
): Omit<SearchableMessage, "offset"> | undefined {
  const { type, role } = item;
  switch (type) {
    case "message":
      if (role === "assistant") return messageEntry("assistant", contentText(item["content"]));
      return isRealUserMessage({ type, role, content: item["content"] })
        ? messageEntry("user", contentText(item["content"]))
        : undefined;
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return callEntry(item, calls);
    case "function_call_output":
    case "custom_tool_call_output":
      return outputEntry(item, calls);
    default:
      return undefined;
  }
}

function messageEntry(role: "user" | "assistant", text: string): Omit<SearchableMessage, "offset"> {
  return { role, kind: "message", text: plain(text, maxMessageChars), toolName: null };
}

function callEntry(item: Item, calls: Record<string, string>): Omit<SearchableMessage, "offset"> {
  const name = typeof item["name"] === "string" ? item["name"] : "shell";
  if (typeof item["call_id"] === "string") calls[item["call_id"]] = name;
  const input = item["arguments"] ?? item["input"] ?? item["action"];
  return { role: "assistant", kind: "call", text: plain(textOf(input), maxToolChars), toolName: name };
}

function outputEntry(item: Item, calls: Record<string, string>): Omit<SearchableMessage, "offset"> {
  const id = typeof item["call_id"] === "string" ? item["call_id"] : "";
  const toolName = Object.hasOwn(calls, id) ? (calls[id] ?? null) : null;
  // Removed once answered, because pending calls are stored with the other facts.
  Reflect.deleteProperty(calls, id);
  const { output } = item;
  const text = Array.isArray(output) ? contentText(output) : textOf(output);
  return { role: "tool", kind: "output", text: plain(text, maxToolChars), toolName };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** Makes a text storable in the database unchanged: no lone surrogates, and no NUL, which would end it. */
function plain(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed().replaceAll("\0", " ");
}

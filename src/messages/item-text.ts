import type { ResponseItem, ToolOutputContent } from "./response-item.js";
import { webSearchText } from "./web-search.js";

/** What an item says, for whoever looks for words in it; empty for what has no words. */
export function itemText(item: ResponseItem): string {
  switch (item.type) {
    case "message":
      return partsText(item.content);
    case "reasoning":
      return [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("\n");
    case "function_call":
      return `${item.name} ${item.arguments}`;
    case "custom_tool_call":
      return `${item.name} ${item.input}`;
    case "local_shell_call":
      return `shell ${JSON.stringify(item.action)}`;
    case "web_search_call":
      return webSearchText(item.action);
    case "function_call_output":
    case "custom_tool_call_output":
      return typeof item.output === "string" ? item.output : partsText(item.output);
    default:
      return "";
  }
}

function partsText(parts: Exclude<ToolOutputContent, string>): string {
  return parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

import type { ResponseItem, ToolOutputContent } from "../../messages/response-item.js";

const charsPerToken = 4;

/** What the main thread may use while no exact count is at hand. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

/** Counts what the model reads in the items: texts, thoughts, tool names, arguments and outputs. */
export function estimateItemTokens(items: readonly ResponseItem[], countTokens: (text: string) => number): number {
  return countTokens(items.map(countedText).join(""));
}

/** What the model reads of an item. */
export function countedText(item: ResponseItem): string {
  switch (item.type) {
    case "message":
      return contentText(item.content);
    case "reasoning":
      return (
        [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("") + (item.encrypted_content ?? "")
      );
    case "function_call":
      return item.name + item.arguments;
    case "custom_tool_call":
      return item.name + item.input;
    case "function_call_output":
    case "custom_tool_call_output":
      return contentText(item.output);
    case "compaction":
    case "compaction_summary":
      return item.encrypted_content;
    case "context_compaction":
      return item.encrypted_content ?? "";
    case "local_shell_call":
    case "web_search_call":
    case "tool_search_call":
    case "tool_search_output":
    case "image_generation_call":
    case "agent_message":
      return JSON.stringify(item);
    case "ghost_snapshot":
    case "(unknown)":
      break;
  }
  // Neither a snapshot nor an item we do not know is sent to a model.
  return "";
}

/** Text as it is, and what is no text as its JSON. */
function contentText(content: ToolOutputContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : JSON.stringify(part))).join("");
}

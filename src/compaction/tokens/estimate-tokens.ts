import type { ResponseItem, ToolOutputContent } from "../../messages/response-item.js";

const charsPerToken = 4;

/** Cheap estimate for the main thread, which must not load a tokenizer. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

/** Counts everything the model reads in the items: texts, reasoning, tool names, arguments and outputs. */
export function estimateItemTokens(items: readonly ResponseItem[], countTokens: (text: string) => number): number {
  return countTokens(items.map(countedText).join(""));
}

/** Returns the text of an item that is sent to the model. */
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
  // Snapshots and items of unknown types are never sent to a model.
  return "";
}

/** Joins text parts as they are and other parts as JSON. */
function contentText(content: ToolOutputContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : JSON.stringify(part))).join("");
}

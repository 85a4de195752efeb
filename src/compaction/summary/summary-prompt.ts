import {
  type MessageItem,
  type ResponseItem,
  type ToolOutputContent,
  isFlagged,
  isSummary,
} from "../../messages/response-item.js";
import { withoutMedia, truncateMiddle } from "../cut/cut-item.js";
import type { CompactionStrategy } from "../strategy.js";

const defaultBounds: SummaryInputBounds = { maxToolChars: 8_000 };

export interface SummaryPromptInput {
  readonly strategy: Pick<CompactionStrategy, "prompt">;
  readonly previousSummary?: string | undefined;
  /** The user's wishes for this summary. */
  readonly instructions?: string | undefined;
  /** A configured prompt that replaces the built-in one. */
  readonly custom?: string | undefined;
}

const contents = `Write a concise summary of the conversation so far; it will replace the messages it summarizes. Cover
- key decisions that were made, and why
- important information that was shared; what the user demands, forbids or prefers in the user's own words
- the current state of work, with tool calls that have no result yet
- unresolved issues and next steps

Keep file paths and identifiers exactly: names in code, commands, addresses, error messages. Leave out what is no longer useful. Do not continue the work and do not call tools; answer with the summary only.`;

const structure = `Use this structure:

## Goal
(what the user wants to achieve)

## Progress
### Done
(what is finished, with the files it is in)
### In Progress
(what has been started)
### Blocked
(what prevents progress)

## Key Decisions
(each with its reason)

## Next Steps
(in order)

## Critical Context
(what must not be lost: constraints of the user, identifiers, addresses, error messages)`;

const update = `There is a summary of what happened before the messages above. Update it:
- keep everything in it that still holds
- add what is new: progress, decisions, information
- move what was In Progress and is finished to Done
- bring Next Steps up to date
- keep its structure`;

/** Builds the last message of a summary request. */
export function summaryPrompt({ strategy, previousSummary, instructions, custom }: SummaryPromptInput): string {
  return [
    custom ?? `${strategy.prompt}\n\n${contents}`,
    ...(custom === undefined ? [structure] : []),
    ...(previousSummary === undefined
      ? []
      : [`${update}\n\n<previous_summary>\n${previousSummary}\n</previous_summary>`]),
    ...(instructions === undefined ? [] : [`The user asks for this in particular:\n${instructions}`]),
  ].join("\n\n");
}

export interface SummaryInputBounds {
  /** Maximum length of one call's arguments and of one output. */
  readonly maxToolChars: number;
}

/**
 * Builds the messages a model reads to write a summary. Every item becomes its own message, so that any of them can
 * be left out. Calls and outputs are described in words, because the request offers no tools and some providers
 * reject calls without them.
 */
export function summaryInput(
  items: readonly ResponseItem[],
  bounds: SummaryInputBounds = defaultBounds,
): MessageItem[] {
  const names = new Map<string, string>();
  return items.flatMap((item) =>
    describeItem(item, names, (text) => truncateMiddle(text, bounds.maxToolChars, charsOf)),
  );
}

function describeItem(
  item: ResponseItem,
  names: Map<string, string>,
  bounded: (text: string) => string,
): MessageItem[] {
  const called = (name: string, input: string, callId?: string | null): MessageItem[] => {
    if (typeof callId === "string") names.set(callId, name);
    return [message("assistant", `[called ${name}] ${bounded(input)}`)];
  };
  const resulted = (text: string, callId: string | null | undefined): MessageItem[] => [
    message("user", `[result of ${names.get(callId ?? "") ?? "a call"}] ${bounded(text)}`),
  ];
  switch (item.type) {
    case "message":
      return isSummary(item) ? [] : plain(item);
    case "function_call":
      return called(item.name, item.arguments, item.call_id);
    case "custom_tool_call":
      return called(item.name, item.input, item.call_id);
    case "local_shell_call":
      return called("local_shell", JSON.stringify(item.action), item.call_id);
    case "tool_search_call":
      return called("tool_search", JSON.stringify(item.arguments) ?? "", item.call_id);
    case "web_search_call":
      return called("web_search", JSON.stringify(item.action ?? {}));
    case "image_generation_call":
      return called("image_generation", "");
    case "function_call_output":
    case "custom_tool_call_output":
      return resulted(outputText(item.output), item.call_id);
    case "tool_search_output":
      return resulted(JSON.stringify(item.tools), item.call_id);
    case "agent_message":
      return [message("user", `[message of ${item.author}] ${bounded(JSON.stringify(item.content) ?? "")}`)];
    case "reasoning":
    case "ghost_snapshot":
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
    case "(unknown)":
      break;
  }
  // Reasoning belongs to the model that wrote it, and encrypted items cannot be read.
  return [];
}

/** Removes the id, because with it the Responses API requires the reasoning item that preceded the message. */
function plain(item: MessageItem): MessageItem[] {
  const { type, role, content } = withoutMedia(item) as MessageItem;
  if (content.every((part) => "text" in part && part.text === "")) return [];
  return [isFlagged(item) || item.id !== undefined || content !== item.content ? { type, role, content } : item];
}

function outputText(output: ToolOutputContent): string {
  if (typeof output === "string") return output;
  return output
    .map((part) => ("text" in part ? part.text : part.type === "input_image" ? "[image]" : "[audio]"))
    .join("\n");
}

function message(role: "assistant" | "user", text: string): MessageItem {
  const type = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: [{ type, text }] };
}

function charsOf(text: string): number {
  return text.length;
}

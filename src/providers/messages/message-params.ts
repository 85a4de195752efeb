import type Anthropic from "@anthropic-ai/sdk";
import { isRecord } from "../../base/is-record.js";
import type {
  ContentPart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../../messages/response-item.js";
import { sendableImage } from "../normalize/content.js";
import type { SentItem } from "../normalize/sent-item.js";

type Block = Anthropic.ContentBlockParam;
type Picture = Anthropic.ImageBlockParam;
export type AnthropicMessage = { role: "user" | "assistant"; content: Block[] };

/** Normalised history as messages: what one side said without the other between is one message. */
export function messageParams(items: readonly SentItem[]): AnthropicMessage[] {
  const messages: AnthropicMessage[] = [];
  for (const item of items) {
    const { role, content } = anthropicMessage(item);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function anthropicMessage(item: SentItem): AnthropicMessage {
  switch (item.type) {
    case "message":
      return { role: item.role === "assistant" ? "assistant" : "user", content: item.content.map(contentBlock) };
    case "reasoning":
      return { role: "assistant", content: [thinkingBlock(item)] };
    case "function_call":
      return { role: "assistant", content: [toolUse(item)] };
    case "function_call_output":
      return { role: "user", content: [toolResult(item)] };
    default:
      return item satisfies never;
  }
}

function contentBlock(part: ContentPart): Anthropic.TextBlockParam | Picture {
  if (part.type === "input_image") return picture(part.image_url);
  return { type: "text", text: part.type === "input_audio" ? "[audio left out]" : part.text };
}

function picture(url: string): Picture {
  const [start, mediaType] = sendableImage.exec(url) ?? [];
  if (start === undefined || mediaType === undefined) return { type: "image", source: { type: "url", url } };
  const media_type = mediaType as Anthropic.Base64ImageSource["media_type"];
  return { type: "image", source: { type: "base64", media_type, data: url.slice(start.length) } };
}

/** As it came: the signature covers every byte. */
function thinkingBlock({ content, encrypted_content }: ReasoningItem): Block {
  const sealed = encrypted_content ?? "";
  if (content === null || content === undefined) return { type: "redacted_thinking", data: sealed };
  return { type: "thinking", thinking: content.map(({ text }) => text).join(""), signature: sealed };
}

function toolUse({ call_id, name, arguments: args }: FunctionCallItem): Block {
  return { type: "tool_use", id: call_id, name, input: toolInput(args) };
}

function toolResult({ call_id, output }: FunctionCallOutputItem): Block {
  const content = typeof output === "string" ? output : output.map(contentBlock);
  return { type: "tool_result", tool_use_id: call_id, ...(content === "" ? {} : { content }) };
}

/** Normalised arguments are an object; half a character may still stand in it, written as an escape. */
function toolInput(args: string): unknown {
  return JSON.parse(args, (_, member: unknown) => {
    if (typeof member === "string") return member.toWellFormed();
    return isRecord(member) ? wellNamed(member) : member;
  });
}

function wellNamed(members: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(members).every((name) => name.isWellFormed())) return members;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name.toWellFormed(), member]));
}

import type { Chat } from "openai/resources/chat/chat";
import type { ModelRequest } from "../../messages/model.js";
import { type FunctionCallItem, type MessageItem, messageText } from "../../messages/response-item.js";
import type { ToolSpec } from "../../messages/tools/tool.js";
import { memoizeByObject } from "../../base/memoize.js";
import { normalizeHistory } from "../normalize/normalize-history.js";
import type { SentItem } from "../normalize/convert-item.js";
import { outputFormat, effortFor } from "../normalize/api-rules.js";

type Body = Chat.ChatCompletionCreateParamsStreaming;
type Message = Chat.ChatCompletionMessageParam;
type UserContent = Exclude<Chat.ChatCompletionUserMessageParam["content"], string>;

/**
 * OpenAI's own models, including fine-tuned ones and names with a router's prefix. Its open-weight models run on other
 * servers.
 */
const ofOpenAi = /(?:^|[/:])(?:gpt-(?!oss)|chatgpt-|codex-|o\d)/;

/** Converts a request to the Chat Completions format. */
export function chatBody(request: ModelRequest): Body {
  const { model, instructions, tools, maxOutputTokens, outputSchema } = request;
  const effort = effortFor(request);
  const system: Message[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  return {
    model,
    messages: [...system, ...messagesOf(normalizeHistory("chat", request.input, model))],
    ...(tools.length === 0 ? {} : { tools: tools.map(chatTool) }),
    // Models accept new efforts before the SDK's types list them.
    ...(effort === undefined ? {} : { reasoning_effort: effort as "high" }),
    ...(maxOutputTokens === undefined ? {} : outputLimit(model, maxOutputTokens)),
    ...(outputSchema === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: outputFormat(outputSchema) } }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

const chatTool = memoizeByObject(({ name, description, parameters }: ToolSpec): Chat.ChatCompletionFunctionTool => {
  return { type: "function", function: { name, description, parameters } };
});

/** OpenAI's newer models reject the old name of the limit, and many other servers do not know the new one. */
function outputLimit(model: string, tokens: number): Pick<Body, "max_completion_tokens" | "max_tokens"> {
  return ofOpenAi.test(model) ? { max_completion_tokens: tokens } : { max_tokens: tokens };
}

/** Consecutive texts and calls of the assistant become one message. Chat Completions has no place for reasoning. */
function messagesOf(items: readonly SentItem[]): Message[] {
  const messages: Message[] = [];
  let assistantMessage: Chat.ChatCompletionAssistantMessageParam | undefined;
  const assistant = (): Chat.ChatCompletionAssistantMessageParam => {
    if (assistantMessage === undefined) messages.push((assistantMessage = { role: "assistant", content: null }));
    return assistantMessage;
  };
  for (const item of items) {
    if (item.type === "reasoning") continue;
    if (item.type === "function_call") {
      const message = assistant();
      message.tool_calls = [...(message.tool_calls ?? []), toolCall(item)];
    } else if (item.type === "message" && item.role === "assistant") {
      const message = assistant();
      message.content =
        typeof message.content === "string" ? `${message.content}\n${messageText(item)}` : messageText(item);
    } else {
      assistantMessage = undefined;
      messages.push(item.type === "message" ? inputMessage(item) : toolOutput(item));
    }
  }
  return messages;
}

function toolCall({ call_id, name, arguments: args }: FunctionCallItem): Chat.ChatCompletionMessageFunctionToolCall {
  return { id: call_id, type: "function", function: { name, arguments: args } };
}

function toolOutput({ call_id, output }: Extract<SentItem, { type: "function_call_output" }>): Message {
  const content = typeof output === "string" ? output : messageText({ type: "message", role: "user", content: output });
  return { role: "tool", tool_call_id: call_id, content };
}

/** Text without images stays a plain string: not every server supports content parts. */
function inputMessage(item: MessageItem): Message {
  if (item.role !== "user") return { role: "system", content: messageText(item) };
  const hasImages = item.content.some((part) => part.type === "input_image");
  return { role: "user", content: hasImages ? item.content.flatMap(userPart) : messageText(item) };
}

function userPart(part: MessageItem["content"][number]): UserContent {
  if ("text" in part) return [{ type: "text", text: part.text }];
  if (part.type !== "input_image") return [];
  const { image_url: url, detail } = part;
  return [
    {
      type: "image_url",
      image_url: detail === null || detail === undefined ? { url } : { url, detail: detail as "auto" },
    },
  ];
}

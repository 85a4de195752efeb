import type Anthropic from "@anthropic-ai/sdk";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import { isRecord } from "../../base/is-record.js";
import { memoizeByObject } from "../../base/memoize.js";
import type { ModelRequest } from "../../messages/model.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import type {
  ContentPart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../../messages/response-item.js";
import type { ToolSpec } from "../../messages/tools/tool.js";
import { sendableImage, type SentItem } from "../normalize/convert-item.js";
import { normalizeHistory } from "../normalize/normalize-history.js";
import { nearestEffort } from "../normalize/api-rules.js";

/** Token budgets for thinking. A model that decides its budget itself gets the same room. */
const budgets = { minimal: 1_024, low: 1_024, medium: 4_096, high: 16_384, xhigh: 32_768, max: 65_536 } as const;

const leastBudget = 1_024;

const answerTokens = 16_384;

/** The minimum left for the answer when thinking and answer do not both fit. */
const minAnswerTokens = 4_096;

/** Matches names with the version after the model's name, as all since Claude 4 have. */
const versioned = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/;

const withoutThinking = /claude-(?:instant|2|3(?![-.]7))/;

const thirdAndHalf = /claude-3[-.]5/;

/** Since Claude 4.6 the model decides its thinking budget itself; later models reject an explicit one. */
const firstAdaptive = 406;

/** The first version with an effort between high and max. */
const firstXhigh = 407;

/** The first version that thinks by default; not every later model allows disabling it. */
const thinksAnyway = 500;

export function anthropicRequest(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
  const { model, instructions, tools, outputSchema } = request;
  const messages = messageParams(normalizeHistory("messages", request.input, model));
  const { output_config: config, ...room } = thinkingParams(request, messages);
  const output_config = outputSchema === undefined ? config : { ...config, format: anthropicFormat(outputSchema) };
  return {
    model,
    ...room,
    ...(output_config === undefined ? {} : { output_config }),
    ...(instructions.trim() === ""
      ? {}
      : { system: [{ type: "text", text: instructions.toWellFormed(), cache_control: ephemeral }] }),
    messages: withCacheMarker(messages),
    ...(tools.length === 0 ? {} : { tools: tools.map(anthropicTool) }),
    stream: true,
  };
}

const ephemeral = { type: "ephemeral" } as const;

/** Marks the whole prompt as cacheable, because the next request begins with it. */
function withCacheMarker(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last === undefined || block === undefined || block.type.endsWith("thinking")) return [...messages];
  const cached = { ...block, cache_control: ephemeral } as typeof block;
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), cached] }];
}

const anthropicTool = memoizeByObject(({ name, description, parameters }: ToolSpec): Anthropic.Tool => {
  return { name, description, input_schema: { ...parameters, type: "object" } };
});

/** The SDK moves constraints that the API cannot enforce, such as number ranges, into the description. */
function anthropicFormat(schema: OutputSchema): Anthropic.JSONOutputFormat {
  return { type: "json_schema", schema: { ...transformJSONSchema(schema) } };
}

type Effort = keyof typeof budgets;

type AdaptiveEffort = NonNullable<Anthropic.OutputConfig["effort"]>;

type ThinkingParams = Pick<Anthropic.MessageCreateParams, "max_tokens" | "output_config" | "thinking">;

/** Chooses the limits for thinking and answer in the form this model accepts. Thinking tokens count as output. */
function thinkingParams(request: ModelRequest, messages: readonly AnthropicMessage[]): ThinkingParams {
  const { model, maxOutputTokens, facts } = request;
  const version = versionOf(model);
  const effort = effortOf(request);
  const limit = facts?.maxOutput ?? assumedMaxOutput(model, version);
  if (version >= firstAdaptive) {
    return adaptive(effort, version, Math.min(limit, maxOutputTokens ?? limit), maxOutputTokens !== undefined);
  }
  // A limited answer leaves no room for thinking.
  if (maxOutputTokens !== undefined) return { max_tokens: Math.min(maxOutputTokens, limit) };
  if (effort === undefined || effort === "none" || !mayThink(messages)) {
    return { max_tokens: Math.min(answerTokens, limit) };
  }
  const max_tokens = Math.min(answerTokens + budgets[effort], limit);
  const budget_tokens = Math.min(budgets[effort], max_tokens - minAnswerTokens);
  if (budget_tokens < leastBudget) return { max_tokens };
  return { max_tokens, thinking: { type: "enabled", budget_tokens } };
}

function adaptive(
  effort: Effort | "none" | undefined,
  version: number,
  limit: number,
  isShort: boolean,
): ThinkingParams {
  const always = version >= thinksAnyway;
  if (isShort) return { max_tokens: limit, ...(always ? { output_config: { effort: "low" } } : {}) };
  if (effort === undefined) return { max_tokens: Math.min(answerTokens + (always ? budgets.high : 0), limit) };
  const efforts = ["low", "medium", "high", ...(version >= firstXhigh ? ["xhigh"] : []), "max"];
  const sent = nearestEffort(effort, efforts) as AdaptiveEffort;
  const max_tokens = Math.min(answerTokens + budgets[sent], limit);
  if (effort !== "none") {
    return { max_tokens, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: sent } };
  }
  return always ? { max_tokens, output_config: { effort: sent } } : { max_tokens: Math.min(answerTokens, limit) };
}

/** Undefined also for an unknown effort, and for a model that cannot think. */
function effortOf({ model, effort, facts }: ModelRequest): Effort | "none" | undefined {
  if (effort === null || effort === undefined || !(facts?.reasons ?? !withoutThinking.test(model))) return undefined;
  return effort === "none" || Object.hasOwn(budgets, effort) ? (effort as Effort | "none") : undefined;
}

/** The output limit assumed for a model without known facts. */
function assumedMaxOutput(model: string, version: number): number {
  if (version >= firstAdaptive) return 64_000;
  if (thirdAndHalf.test(model)) return 8_192;
  return withoutThinking.test(model) ? 4_096 : 32_768;
}

/** 406 for Claude 4.6; 0 for a name without a version. */
function versionOf(model: string): number {
  const [, major, minor] = versioned.exec(model) ?? [];
  if (major === undefined && model.includes("claude-mythos")) return firstAdaptive;
  return Number(major ?? 0) * 100 + Number(minor ?? 0);
}

/**
 * With a thinking budget, the API rejects tool results whose calls were made without thinking, for example by another
 * model. This also applies to earlier calls in the same uninterrupted sequence of calls and results.
 */
function mayThink(messages: readonly AnthropicMessage[]): boolean {
  for (let index = messages.length - 1; messages[index]?.content[0]?.type === "tool_result"; index -= 2) {
    const first = messages[index - 1]?.content[0]?.type;
    if (first !== "thinking" && first !== "redacted_thinking") return false;
  }
  return true;
}

type Block = Anthropic.ContentBlockParam;

type Picture = Anthropic.ImageBlockParam;

type AnthropicMessage = { role: "user" | "assistant"; content: Block[] };

/** Converts the normalized history to messages. Consecutive items of one side become one message. */
function messageParams(items: readonly SentItem[]): AnthropicMessage[] {
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

/** Sent unchanged: the signature covers every byte. */
function thinkingBlock({ content, encrypted_content }: ReasoningItem): Block {
  const encrypted = encrypted_content ?? "";
  if (content === null || content === undefined) return { type: "redacted_thinking", data: encrypted };
  return { type: "thinking", thinking: content.map(({ text }) => text).join(""), signature: encrypted };
}

function toolUse({ call_id, name, arguments: args }: FunctionCallItem): Block {
  return { type: "tool_use", id: call_id, name, input: toolInput(args) };
}

function toolResult({ call_id, output }: FunctionCallOutputItem): Block {
  const content = typeof output === "string" ? output : output.map(contentBlock);
  return { type: "tool_result", tool_use_id: call_id, ...(content === "" ? {} : { content }) };
}

/** Normalized arguments are always an object, but may contain lone surrogates written as escapes. */
function toolInput(args: string): unknown {
  return JSON.parse(args, (_, member: unknown) => {
    if (typeof member === "string") return member.toWellFormed();
    return isRecord(member) ? withWellFormedNames(member) : member;
  });
}

function withWellFormedNames(members: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(members).every((name) => name.isWellFormed())) return members;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name.toWellFormed(), member]));
}

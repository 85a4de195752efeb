import { randomUUID } from "node:crypto";
import { toHookTool } from "../../../actors/conversation/hooks/tool-names.js";
import { isRecord } from "../../../base/is-record.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import { resolveModel } from "../../../config/models/models.js";
import { bareId } from "../../../base/text/conversation-id.js";
import type { Event, EventMsg } from "../../../messages/event.js";
import { messageText, type ResponseItem, type ToolOutputContent } from "../../../messages/response-item.js";
import { noTokens, type TokenUsage } from "../../../messages/token-usage.js";
import type { TurnOutcome } from "../../terminal/turn-player.js";

/** One line of Claude Code's stream-json output. */
export interface StreamMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Block {
  readonly type: "text" | "thinking" | "tool_use";
  readonly [field: string]: unknown;
}

/** A call under the name and with the arguments that programs for Claude Code know. */
interface StreamCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface StreamOptions {
  readonly conversationId: string;
  readonly model: () => string;
  readonly cwd: string;
  readonly isPartial: boolean;
  readonly now: () => number;
}

/** Translates the events of one conversation into messages of Claude Code's stream-json protocol. */
export class StreamMessages {
  readonly #options: StreamOptions;
  readonly #calls = new Map<string, StreamCall>();
  readonly #failedCalls = new Set<string>();
  /** The answer of one model call: its finished blocks, and those that partial messages have begun. */
  #blocks: Block[] = [];
  #partial: PartialMessage | undefined;
  #total: TokenUsage = noTokens;
  #turn = newTurn(0, noTokens);
  #costUsd = 0;
  readonly #denials: { tool_name: string; tool_use_id: string; tool_input: StreamCall["input"] }[] = [];

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Call before a message is submitted. */
  beginTurn(): void {
    this.#turn = newTurn(this.#options.now(), this.#total);
    this.#denials.length = 0;
  }

  /** The call with this id, as the program knows it. */
  callOf(callId: string): StreamCall | undefined {
    return this.#calls.get(callId);
  }

  denied(callId: string, { name, input }: StreamCall): void {
    this.#failedCalls.add(callId);
    this.#denials.push({ tool_name: name, tool_use_id: callId, tool_input: input });
  }

  /** The messages for an event of the conversation. */
  of({ msg }: Event): StreamMessage[] {
    switch (msg.type) {
      case "agent_message_delta":
        return this.#delta(msg.item_id, "text", msg.delta);
      case "agent_reasoning_delta":
        return this.#delta(msg.item_id, "thinking", msg.delta);
      case "raw_response_item":
        return this.#item(msg.item as ResponseItem);
      case "exec_command_end":
        if (msg.exit_code !== 0) this.#failedCalls.add(msg.call_id);
        return [];
      case "patch_apply_end":
        if (!msg.success) this.#failedCalls.add(msg.call_id);
        return [];
      case "token_count":
        return this.#tokens(msg);
      case "exec_approval_request":
      case "apply_patch_approval_request":
        return this.#answer("tool_use");
      case "compaction_end":
        return msg.outcome === "compacted" ? [this.#compacted(msg)] : [];
      case "stream_error":
        return [...this.#answer("error"), this.#retry(msg)];
      case "turn_limit_reached":
        this.#turn.limit = msg.setting;
        return [];
      case "error":
        this.#turn.error = msg.message;
        return [];
      case "task_complete":
        this.#turn.answer = msg.last_agent_message;
        this.#turn.error = msg.error?.message ?? this.#turn.error;
        this.#turn.isTruncated = msg.truncated === true;
        this.#costUsd += msg.cost_usd ?? 0;
        return this.#answer("end_turn");
      case "turn_aborted":
        this.#costUsd += msg.cost_usd ?? 0;
        return this.#answer("end_turn");
      default:
        return [];
    }
  }

  /** The message that ends a turn. */
  result(outcome: TurnOutcome, structured?: { readonly problems: readonly string[] }): StreamMessage {
    const { answer, error, limit, steps, startedAt, before, isTruncated } = this.#turn;
    const duration = Math.max(0, Math.round(this.#options.now() - startedAt));
    const tokens = difference(this.#total, before);
    const isAnswered = outcome === "answered" || outcome === "truncated" || outcome === "refused";
    const mismatch = structured !== undefined && structured.problems.length > 0 ? structured.problems : undefined;
    const facts = {
      is_error: !isAnswered || mismatch !== undefined,
      duration_ms: duration,
      duration_api_ms: duration,
      num_turns: Math.max(1, steps),
      stop_reason: isTruncated ? "max_tokens" : isAnswered ? "end_turn" : null,
      total_cost_usd: this.#costUsd,
      usage: messageUsage(tokens),
      modelUsage: { [this.#options.model()]: this.#modelUsage() },
      permission_denials: [...this.#denials],
    };
    if (isAnswered && mismatch === undefined) {
      const output = structured === undefined ? {} : { structured_output: jsonOrUndefined(answer ?? "") };
      return this.#message("result", { subtype: "success", ...facts, result: answer ?? "", ...output });
    }
    const subtype = mismatch === undefined ? failureSubtype(limit) : ("error_max_structured_output_retries" as const);
    const errors = mismatch ?? [error ?? (outcome === "aborted" ? "The turn was interrupted" : "The turn failed")];
    return this.#message("result", { subtype, ...facts, errors });
  }

  /** Adds the fields that every message has. */
  #message(type: string, fields: Readonly<Record<string, unknown>>): StreamMessage {
    return { type, ...fields, session_id: bareId(this.#options.conversationId), uuid: randomUUID() };
  }

  system(subtype: string, fields: Readonly<Record<string, unknown>>): StreamMessage {
    return this.#message("system", { subtype, ...fields });
  }

  #item(item: ResponseItem): StreamMessage[] {
    switch (item.type) {
      case "message":
        return item.role === "assistant" ? this.#add({ type: "text", text: messageText(item) }) : [];
      case "reasoning": {
        const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("\n\n");
        if (text === "") return [];
        return this.#add({ type: "thinking", thinking: text, signature: item.encrypted_content ?? "" });
      }
      case "function_call": {
        const args = jsonOrUndefined(item.arguments);
        return this.#call(item.call_id, item.name, isRecord(args) ? args : {});
      }
      case "custom_tool_call":
        return this.#call(item.call_id, item.name, { input: item.input });
      case "function_call_output":
      case "custom_tool_call_output":
        if (item.success === false) this.#failedCalls.add(item.call_id);
        return this.#output(item.call_id, item.output);
      default:
        return [];
    }
  }

  #call(callId: string, tool: string, args: Readonly<Record<string, unknown>>): StreamMessage[] {
    const { tool_name: name, tool_input: input } = toHookTool(tool, args, this.#options.cwd);
    this.#calls.set(callId, { name, input });
    return this.#add({ type: "tool_use", id: callId, name, input });
  }

  #output(callId: string, output: ToolOutputContent): StreamMessage[] {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    const isError = this.#failedCalls.delete(callId);
    // A call that the model made before this process began.
    if (call === undefined) return [];
    const result = { type: "tool_result", tool_use_id: callId, content: outputBlocks(output), is_error: isError };
    const message = { role: "user", content: [result] };
    return [...this.#answer("tool_use"), this.#message("user", { message, parent_tool_use_id: null })];
  }

  #add(block: Block): StreamMessage[] {
    this.#blocks.push(block);
    if (!this.#options.isPartial) return [];
    return this.#partialMessage()
      .block(block)
      .map((event) => this.#streamEvent(event));
  }

  #delta(itemId: string, type: "text" | "thinking", delta: string): StreamMessage[] {
    if (!this.#options.isPartial) return [];
    return this.#partialMessage()
      .delta(itemId, type, delta)
      .map((event) => this.#streamEvent(event));
  }

  #partialMessage(): PartialMessage {
    return (this.#partial ??= new PartialMessage(this.#options.model()));
  }

  #streamEvent(event: object): StreamMessage {
    return this.#message("stream_event", { event, parent_tool_use_id: null });
  }

  #tokens({ info }: Extract<EventMsg, { type: "token_count" }>): StreamMessage[] {
    if (info === null) return [];
    this.#total = info.total_token_usage;
    const hasCalls = this.#blocks.some(({ type }) => type === "tool_use");
    return this.#answer(hasCalls ? "tool_use" : "end_turn", info.last_token_usage);
  }

  /** The whole answer of a model call, once its tokens are known or something else follows. */
  #answer(stopReason: string, tokens: TokenUsage = noTokens): StreamMessage[] {
    const blocks = this.#blocks;
    const partial = this.#partial;
    this.#blocks = [];
    this.#partial = undefined;
    const usage = messageUsage(tokens);
    const ends = partial?.end(stopReason, usage).map((event) => this.#streamEvent(event)) ?? [];
    if (blocks.length === 0) return ends;
    this.#turn.steps += 1;
    const message = {
      id: partial?.id ?? messageId(),
      type: "message",
      role: "assistant",
      model: this.#options.model(),
      content: blocks,
      stop_reason: stopReason === "error" ? null : stopReason,
      stop_sequence: null,
      usage,
    };
    return [...ends, this.#message("assistant", { message, parent_tool_use_id: null })];
  }

  #retry({ message, attempt = 1, max_attempts = attempt, wait_ms = 0, codex_error_info }: RetryMsg): StreamMessage {
    const error = typeof codex_error_info === "string" ? (apiErrors[codex_error_info] ?? "unknown") : "unknown";
    const facts = { attempt, max_retries: max_attempts, retry_delay_ms: wait_ms, error_status: null };
    return this.system("api_retry", { ...facts, error, message });
  }

  #compacted({ tokens_before, tokens_after }: Extract<EventMsg, { type: "compaction_end" }>): StreamMessage {
    const facts = { trigger: "auto", pre_tokens: tokens_before, post_tokens: tokens_after };
    return this.system("compact_boundary", { compact_metadata: facts });
  }

  #modelUsage(): object {
    const { input_tokens, cache_read_input_tokens, output_tokens } = messageUsage(this.#total);
    return {
      inputTokens: input_tokens,
      outputTokens: output_tokens,
      cacheReadInputTokens: cache_read_input_tokens,
      cacheCreationInputTokens: 0,
      webSearchRequests: 0,
      costUSD: this.#costUsd,
      contextWindow: resolveModel(this.#options.model()).contextWindow,
      maxOutputTokens: resolveModel(this.#options.model()).maxOutput,
    };
  }
}

type RetryMsg = Extract<EventMsg, { type: "stream_error" }>;

/** cody's error codes under the names of Claude Code. */
const apiErrors: Readonly<Record<string, string>> = {
  rate_limit: "rate_limit",
  overloaded: "server_error",
  server: "server_error",
  auth: "authentication_failed",
  invalid_request: "invalid_request",
};

interface TurnFacts {
  readonly startedAt: number;
  /** The tokens of the conversation before the turn. */
  readonly before: TokenUsage;
  steps: number;
  answer: string | null;
  error: string | undefined;
  limit: string | undefined;
  isTruncated: boolean;
}

function newTurn(startedAt: number, before: TokenUsage): TurnFacts {
  const nothing = { answer: null, error: undefined, limit: undefined, isTruncated: false };
  return { startedAt, before, steps: 0, ...nothing };
}

function failureSubtype(limit: string | undefined): string {
  if (limit === "turnLimits.steps") return "error_max_turns";
  return limit === "turnLimits.cost" ? "error_max_budget_usd" : "error_during_execution";
}

/** The events of the Messages API for one answer. A block ends when the next one begins. */
class PartialMessage {
  readonly id = messageId();
  readonly #model: string;
  #index = -1;
  /** The item whose block is open; undefined if none is. */
  #open: string | undefined;
  /** Types of blocks that deltas have begun and no finished item has matched yet. */
  readonly #streamed: string[] = [];

  constructor(model: string) {
    this.#model = model;
  }

  delta(itemId: string, type: "text" | "thinking", text: string): object[] {
    const begin = this.#open === itemId ? [] : this.#begin(itemId, emptyBlock({ type }));
    if (begin.length > 0) this.#streamed.push(type);
    const delta = type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return [...begin, { type: "content_block_delta", index: this.#index, delta }];
  }

  /** A finished block; only what no delta has shown is sent. */
  block(block: Block): object[] {
    const shown = this.#streamed.indexOf(block.type);
    if (shown !== -1) {
      this.#streamed.splice(shown, 1);
      return [];
    }
    const begin = this.#begin(randomUUID(), emptyBlock(block));
    return [...begin, { type: "content_block_delta", index: this.#index, delta: wholeDelta(block) }];
  }

  end(stopReason: string, usage: object): object[] {
    const delta = { stop_reason: stopReason === "error" ? null : stopReason, stop_sequence: null };
    return [...this.#endBlock(), { type: "message_delta", delta, usage }, { type: "message_stop" }];
  }

  #begin(itemId: string, block: object): object[] {
    const start = this.#index === -1 ? [this.#start()] : this.#endBlock();
    this.#index += 1;
    this.#open = itemId;
    return [...start, { type: "content_block_start", index: this.#index, content_block: block }];
  }

  #endBlock(): object[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [{ type: "content_block_stop", index: this.#index }];
  }

  #start(): object {
    const nothing = { content: [], stop_reason: null, stop_sequence: null, usage: messageUsage(noTokens) };
    const message = { id: this.id, type: "message", role: "assistant", model: this.#model, ...nothing };
    return { type: "message_start", message };
  }
}

function emptyBlock(block: Pick<Block, "type"> & Readonly<Record<string, unknown>>): object {
  if (block.type === "text") return { type: "text", text: "" };
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { ...block, input: {} };
}

function wholeDelta(block: Block): object {
  if (block.type === "text") return { type: "text_delta", text: block["text"] };
  if (block.type === "thinking") return { type: "thinking_delta", thinking: block["thinking"] };
  return { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) };
}

/** Anthropic counts cached tokens apart from the others. */
function messageUsage({ input_tokens, cached_input_tokens, output_tokens }: TokenUsage) {
  return {
    input_tokens: Math.max(0, input_tokens - cached_input_tokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached_input_tokens,
    output_tokens,
  };
}

function difference(after: TokenUsage, before: TokenUsage): TokenUsage {
  const left = (name: keyof TokenUsage): number => Math.max(0, after[name] - before[name]);
  return {
    input_tokens: left("input_tokens"),
    cached_input_tokens: left("cached_input_tokens"),
    output_tokens: left("output_tokens"),
    reasoning_output_tokens: left("reasoning_output_tokens"),
    total_tokens: left("total_tokens"),
  };
}

/** A tool's output as content of a `tool_result`. */
function outputBlocks(output: ToolOutputContent): unknown {
  if (typeof output === "string") return output;
  return output.map((part) => {
    if ("text" in part) return { type: "text", text: part.text };
    const url = "image_url" in part ? part.image_url : part.audio_url;
    const [, media_type, data] = /^data:(image\/[^;,]+);base64,(.*)$/s.exec(url) ?? [];
    if (media_type !== undefined) return { type: "image", source: { type: "base64", media_type, data } };
    return { type: "text", text: url };
  });
}

function messageId(): string {
  return `msg_${randomUUID().replaceAll("-", "")}`;
}

import type { IncomingHttpHeaders } from "node:http";
import { entryOf, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { isRedactedData, signatureOf } from "../signatures.js";
import { subSchemas } from "../problem.js";
import type { Refusal } from "../wire-api.js";
import { invalidMessages } from "./errors.js";
import { followsThinking, type Turn, turnsOf } from "./turns.js";
import { modelRefusal, takesPrefill, optionRefusal } from "./option-rules.js";

const unsupported = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "oneOf",
  "not",
  "if",
  "patternProperties",
];

const notAtTopLevel = ["oneOf", "allOf", "anyOf"];

const argumentName = /^[a-zA-Z0-9_.-]{1,64}$/;

export function headerRefusal(headers: IncomingHttpHeaders): Refusal | undefined {
  return headers["anthropic-version"] === undefined
    ? invalidMessages("anthropic-version: header is required")
    : undefined;
}

/** Checks rules beyond the shape of a request. */
export function ruleRefusal(body: JsonObject): Refusal | undefined {
  const messages = objectsOf(body["messages"]);
  const turns = turnsOf(messages);
  return (
    budgetRefusal(body) ??
    modelRefusal(body) ??
    optionRefusal(body) ??
    schemaRefusal(objectOf(objectOf(body["output_config"])["format"])["schema"]) ??
    contentRefusal(body, messages) ??
    toolNameRefusal(body) ??
    toolSchemaRefusal(body) ??
    placeRefusal(turns) ??
    thinkingRefusal(turns, stringOf(body["model"])) ??
    changedRefusal(turns) ??
    pairRefusal(turns) ??
    undefinedToolRefusal(body, turns) ??
    missingThinkingRefusal(body, turns) ??
    finalRefusal(body, turns)
  );
}

function budgetRefusal(body: JsonObject): Refusal | undefined {
  const budget = objectOf(body["thinking"])["budget_tokens"];
  if (typeof budget !== "number" || budget < Number(body["max_tokens"])) return undefined;
  return invalidMessages("`max_tokens` must be greater than `thinking.budget_tokens`.");
}

function contentRefusal(body: JsonObject, messages: readonly JsonObject[]): Refusal | undefined {
  if (objectsOf(body["system"]).some((block) => block["text"] === "")) {
    return invalidMessages("system: text content blocks must be non-empty");
  }
  for (const [index, { role, content }] of messages.entries()) {
    const mayBeEmpty = role === "assistant" && index === messages.length - 1;
    if ((content as string | unknown[]).length === 0 && !mayBeEmpty) {
      const rule = "all messages must have non-empty content except for the optional final assistant message";
      return invalidMessages(`messages.${index}: ${rule}`);
    }
    const texts = objectsOf(content).flatMap(textsOf);
    if (texts.includes("")) return invalidMessages("messages: text content blocks must be non-empty");
    const all = typeof content === "string" && content !== "" ? [content] : texts;
    if (all.some((text) => text.trim() === "")) {
      return invalidMessages("messages: text content blocks must contain non-whitespace text");
    }
  }
  return messages[0]?.["role"] === "user"
    ? undefined
    : invalidMessages('messages: first message must use the "user" role');
}

/** The texts of a block, including those in a tool result. */
function textsOf(block: JsonObject): string[] {
  if (block["type"] === "text") return [stringOf(block["text"])];
  return block["type"] === "tool_result" ? objectsOf(block["content"]).flatMap(textsOf) : [];
}

function toolNameRefusal(body: JsonObject): Refusal | undefined {
  const names = objectsOf(body["tools"]).map((tool) => tool["name"]);
  return new Set(names).size === names.length ? undefined : invalidMessages("tools: Tool names must be unique.");
}

/** Each block type may only be used by one role. */
function placeRefusal(turns: readonly Turn[]): Refusal | undefined {
  const places: Readonly<Record<string, string>> = {
    thinking: "assistant",
    redacted_thinking: "assistant",
    tool_use: "assistant",
    tool_result: "user",
    image: "user",
  };
  for (const { role, blocks } of turns) {
    for (const { block, path } of blocks) {
      const type = stringOf(block["type"]);
      const place = entryOf(places, type);
      if (place === undefined || place === role) continue;
      return invalidMessages(`${path}: \`${type}\` blocks can only be in \`${place}\` messages`);
    }
  }
  return undefined;
}

function undefinedToolRefusal(body: JsonObject, turns: readonly Turn[]): Refusal | undefined {
  if (objectsOf(body["tools"]).length > 0) return undefined;
  const isOfTool = turns.some(({ blocks }) => blocks.some(({ block }) => stringOf(block["type"]).startsWith("tool_")));
  if (!isOfTool) return undefined;
  return invalidMessages("Requests which include `tool_use` or `tool_result` blocks must define tools");
}

function thinkingRefusal(turns: readonly Turn[], model: string): Refusal | undefined {
  for (const { role, blocks, index } of turns) {
    for (const { block, path } of blocks) {
      if (block["type"] === "redacted_thinking" && !isRedactedData(stringOf(block["data"]), model)) {
        return invalidMessages(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
      }
      if (block["type"] !== "thinking") continue;
      const thinking = stringOf(block["thinking"]);
      if (thinking === "") return invalidMessages(`${path}.thinking: each thinking block must contain thinking`);
      if (block["signature"] !== signatureOf(thinking, model)) {
        return invalidMessages(`${path}: Invalid \`signature\` in \`thinking\` block`);
      }
    }
    const last = blocks.at(-1)?.block;
    if (role === "assistant" && last !== undefined && isThought(last)) {
      const type = stringOf(last["type"]);
      return invalidMessages(`messages.${index}: The final block in an assistant message cannot be \`${type}\`.`);
    }
  }
  return undefined;
}

/**
 * If the newest calls come with thinking blocks, these must be complete and in order. Another rule decides whether they
 * may be missing.
 */
function changedRefusal(turns: readonly Turn[]): Refusal | undefined {
  const { blocks } = turns.findLast(({ role }) => role === "assistant") ?? { blocks: [] };
  const first = blocks.find(({ block }) => isThought(block));
  if (first === undefined) return undefined;
  const thoughts: JsonObject[] = [];
  for (const { block } of blocks) {
    if (isThought(block)) thoughts.push(block);
    if (block["type"] !== "tool_use" || followsThinking(stringOf(block["id"]), thoughts)) continue;
    const rule = "blocks in the latest assistant message cannot be modified";
    const text = `\`thinking\` or \`redacted_thinking\` ${rule}. These blocks must remain as they were in the original response.`;
    return invalidMessages(`${first.path}: ${text}`);
  }
  return undefined;
}

function isThought(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

/** Every `tool_use` must have one result at the start of the next message, and every result its `tool_use`. */
function pairRefusal(turns: readonly Turn[]): Refusal | undefined {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  let openIndex = 0;
  for (const { blocks, index } of turns) {
    const results = new Set<string>();
    let isPastResults = false;
    for (const { block, path } of blocks) {
      if (block["type"] !== "tool_result") isPastResults = true;
      else {
        const id = stringOf(block["tool_use_id"]);
        if (!open.includes(id)) return orphanRefusal(path, id);
        if (results.has(id)) return doubleResult(path, id);
        if (!isPastResults) results.add(id);
      }
    }
    const missing = open.filter((id) => !results.has(id));
    if (missing.length > 0) return unansweredRefusal(openIndex, missing);
    const uses = blocks.filter(({ block }) => block["type"] === "tool_use");
    for (const { block, path } of uses) {
      const id = stringOf(block["id"]);
      if (seen.has(id)) return invalidMessages(`${path}: \`tool_use\` ids must be unique`);
      seen.add(id);
    }
    open = uses.map(({ block }) => stringOf(block["id"]));
    openIndex = index;
  }
  return open.length > 0 ? unansweredRefusal(openIndex, open) : undefined;
}

/** A prefilled answer is only continued without thinking, and must not end with whitespace. */
function finalRefusal(body: JsonObject, turns: readonly Turn[]): Refusal | undefined {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return undefined;
  if (!takesPrefill(stringOf(body["model"]))) {
    const rule = "The conversation must end with a user message.";
    return invalidMessages(`This model does not support assistant message prefill. ${rule}`);
  }
  const text = stringOf(last.blocks.at(-1)?.block["text"]);
  if (text !== text.trimEnd()) {
    return invalidMessages("messages: final assistant content cannot end with trailing whitespace");
  }
  const thinks = ["enabled", "adaptive"].includes(stringOf(objectOf(body["thinking"])["type"]));
  return thinks ? thoughtRefusal(last) : undefined;
}

/**
 * With a thinking budget, the model only continues from calls that it made after thinking: the first of an
 * uninterrupted sequence of calls and results must begin with a thinking block.
 */
function missingThinkingRefusal(body: JsonObject, turns: readonly Turn[]): Refusal | undefined {
  if (objectOf(body["thinking"])["type"] !== "enabled") return undefined;
  let first: Turn | undefined;
  for (let index = turns.length - 1; turns[index]?.blocks[0]?.block["type"] === "tool_result"; index -= 2) {
    first = turns[index - 1];
  }
  return first === undefined ? undefined : thoughtRefusal(first);
}

function thoughtRefusal({ blocks }: Turn): Refusal | undefined {
  const begun = blocks[0];
  if (begun === undefined || stringOf(begun.block["type"]).endsWith("thinking")) return undefined;
  return invalidMessages(
    `${begun.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${stringOf(begun.block["type"])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
  );
}

function orphanRefusal(path: string, id: string): Refusal {
  const rule = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
  return invalidMessages(`${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ${rule}`);
}

function doubleResult(path: string, id: string): Refusal {
  return invalidMessages(
    `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
  );
}

function unansweredRefusal(index: number, ids: readonly string[]): Refusal {
  const rule = "Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
  return invalidMessages(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. ${rule}`,
  );
}

/** Rejects an unsupported tool schema; one such tool invalidates the whole request. */
function toolSchemaRefusal(body: JsonObject): Refusal | undefined {
  for (const [index, tool] of objectsOf(body["tools"]).entries()) {
    const schema = objectOf(tool["input_schema"]);
    const place = `tools.${index}.custom.input_schema`;
    if (notAtTopLevel.some((key) => schema[key] !== undefined)) {
      return invalidMessages(`${place}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    }
    if (!Object.keys(objectOf(schema["properties"])).every((key) => argumentName.test(key))) {
      const rule = `Property keys should match pattern '${argumentName.source}'`;
      return invalidMessages(`${place}.properties: ${rule}`);
    }
  }
  return undefined;
}

/** Rejects an output schema that the Messages API does not support. */
function schemaRefusal(root: unknown): Refusal | undefined {
  for (const { schema, path } of subSchemas(root)) {
    const problem = problemOf(schema);
    if (problem !== undefined) return invalidMessages(["output_config.format.schema", ...path].join(".") + problem);
  }
  return undefined;
}

function problemOf(schema: JsonObject): string | undefined {
  const { type, minItems } = schema;
  if (type === "object" && schema["additionalProperties"] !== false) {
    return ": For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
  const no = unsupported.find((key) => schema[key] !== undefined);
  if (no !== undefined) return `: For '${String(type)}' type, property '${no}' is not supported`;
  if (typeof minItems !== "number" || minItems <= 1) return undefined;
  return ": For 'array' type, 'minItems' values other than 0 or 1 are not supported";
}

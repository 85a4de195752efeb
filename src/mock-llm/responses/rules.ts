import { isRecord } from "../../base/is-record.js";
import { isJsonObject } from "../../base/parse.js";
import { isGiven, type JsonObject, objectOf, objectsOf, stringOf } from "../json.js";
import { badRequest } from "../openai/errors.js";
import { effortRefusal, samplingRefusal, mentionsJson } from "../openai/options.js";
import { schemaRefusal } from "../openai/schema.js";
import { decryptedItemId } from "../signatures.js";
import { reasoningIdIn } from "./items.js";
import { toolRefusal } from "./tools.js";
import type { Refusal } from "../wire-api.js";

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};
const withoutReasoning = /^(?:gpt-[34]|chatgpt-4)/;
const callTypes: Readonly<Record<string, string>> = {
  function_call: "function call",
  custom_tool_call: "custom tool call",
};

/**
 * Checks rules beyond the shape of a request; `sent` is the part that the client sent, without what the server stored.
 */
export function ruleRefusal(body: JsonObject, sent = body): Refusal | undefined {
  const unfit =
    effortRefusal(stringOf(body["model"]), objectOf(body["reasoning"])["effort"], "reasoning.effort") ??
    samplingRefusal(body) ??
    schemaRefusal(objectOf(objectOf(body["text"])["format"]), "text.format.schema") ??
    jsonWordRefusal(body) ??
    toolRefusal(body);
  if (unfit !== undefined || typeof body["input"] === "string") return unfit;
  const items = objectsOf(body["input"]);
  return (
    idRefusal(items) ??
    unreasoningRefusal(items, body) ??
    reasoningRefusal(items, body) ??
    missingReasoningRefusal(items) ??
    argumentsRefusal(objectsOf(sent["input"])) ??
    pairRefusal(items, body) ??
    emptyRefusal(items, body)
  );
}

function jsonWordRefusal(body: JsonObject): Refusal | undefined {
  if (objectOf(objectOf(body["text"])["format"])["type"] !== "json_object" || mentionsJson(body["input"]))
    return undefined;
  const rule = "must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  return badRequest(`Response input messages ${rule}`, "input");
}

function idRefusal(items: readonly JsonObject[]): Refusal | undefined {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const { id } = item;
    if (typeof id !== "string") continue;
    const prefix = prefixes[typeOf(item)];
    const place = `input[${index}].id`;
    if (prefix !== undefined && item["role"] !== "user" && !id.startsWith(prefix)) {
      return badRequest(
        `Invalid '${place}': '${id}'. Expected an ID that begins with '${prefix}'.`,
        place,
        "invalid_value",
      );
    }
    if (seen.has(id)) {
      return badRequest(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        "input",
      );
    }
    seen.add(id);
  }
  return undefined;
}

/** Models without reasoning reject reasoning parameters and items. */
function unreasoningRefusal(items: readonly JsonObject[], body: JsonObject): Refusal | undefined {
  if (!withoutReasoning.test(stringOf(body["model"]))) return undefined;
  const [asked] = Object.keys(objectOf(body["reasoning"]));
  if (asked !== undefined) {
    const param = `reasoning.${asked}`;
    const text = `Unsupported parameter: '${param}' is not supported with this model.`;
    return badRequest(text, param, "unsupported_parameter");
  }
  if (Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content")) {
    return badRequest("Encrypted content is not supported with this model.", "include");
  }
  if (!items.some((item) => typeOf(item) === "reasoning")) return undefined;
  const text = "Reasoning input items can only be provided to a reasoning or computer use model.";
  return badRequest(`${text} Remove reasoning items from your input and try again.`, "input");
}

/** Reasoning belongs to the item after it, and is only accepted with its encrypted content. */
function reasoningRefusal(items: readonly JsonObject[], body: JsonObject): Refusal | undefined {
  for (const [index, item] of items.entries()) {
    if (typeOf(item) !== "reasoning") continue;
    const id = stringOf(item["id"]);
    const content = item["encrypted_content"];
    if (typeof content === "string") {
      const sealedId = decryptedItemId(content, stringOf(body["model"]));
      if (sealedId === undefined) return sealRefusal(content, "could not be decrypted or parsed");
      if (id !== "" && id !== sealedId) return sealRefusal(content, "item_id did not match the target item id");
    }
    if (typeof content !== "string" && body["store"] === false) {
      const text = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
      return { status: 404, message: text, param: "input" };
    }
    const follower = items.slice(index + 1).find((next) => typeOf(next) !== "reasoning");
    if (!isFromModel(follower)) {
      return badRequest(`Item '${id}' of type 'reasoning' was provided without its required following item.`, "input");
    }
  }
  return undefined;
}

/** An item with an id that followed a reasoning item is rejected without it. */
function missingReasoningRefusal(items: readonly JsonObject[]): Refusal | undefined {
  const thoughts = new Set<string>();
  for (const item of items) {
    const id = stringOf(item["id"]);
    if (typeOf(item) === "reasoning") thoughts.add(id);
    const thought = reasoningIdIn(id);
    if (thought === undefined || thoughts.has(thought)) continue;
    const text = `Item '${id}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${thought}'.`;
    return badRequest(text, "input");
  }
  return undefined;
}

/**
 * OpenAI's own servers may not check this, but many compatible ones parse the arguments in every request, and reject
 * the whole conversation if they cannot.
 */
function argumentsRefusal(items: readonly JsonObject[]): Refusal | undefined {
  const index = items.findIndex(
    (item) => typeOf(item) === "function_call" && !isJsonObject(stringOf(item["arguments"])),
  );
  if (index === -1) return undefined;
  const place = `input[${index}].arguments`;
  return badRequest(`Invalid '${place}': expected a JSON object.`, place);
}

function sealRefusal(content: string, reason: string): Refusal {
  const excerpt = `${content.slice(0, 4)}...${content.slice(-4)}`;
  const text = `The encrypted content ${excerpt} could not be verified. Reason: Encrypted content ${reason}.`;
  return badRequest(text, null, "invalid_encrypted_content");
}

function isFromModel(item: JsonObject | undefined): boolean {
  if (item === undefined) return false;
  const type = typeOf(item);
  return type === "message" ? item["role"] === "assistant" : type.endsWith("_call") || type === "item_reference";
}

function pairRefusal(items: readonly JsonObject[], body: JsonObject): Refusal | undefined {
  const open = new Map<string, string>();
  const calls = new Map<string, string>();
  const answered = new Set<string>();
  // Items of a server-side conversation are not in the input.
  const remembers = isGiven(body["conversation"]);
  for (const item of items) {
    const type = typeOf(item);
    const callId = stringOf(item["call_id"]);
    const word = callTypes[type];
    if (word !== undefined) {
      if (calls.has(callId)) return badRequest(`Duplicate ${type} found with call_id ${callId}.`, "input");
      calls.set(callId, word);
      open.set(callId, word);
    }
    const answeredWord = callTypes[type.replace(/_output$/, "")];
    if (word !== undefined || answeredWord === undefined) continue;
    if (answered.has(callId)) return badRequest(`Duplicate ${type} found with call_id ${callId}.`, "input");
    // The output must be of the same kind as its call.
    if ((calls.get(callId) ?? (remembers ? answeredWord : "")) !== answeredWord) {
      return badRequest(`No tool call found for ${answeredWord} output with call_id ${callId}.`, "input");
    }
    answered.add(callId);
    open.delete(callId);
  }
  const [unanswered] = open;
  if (unanswered === undefined) return undefined;
  return badRequest(`No tool output found for ${unanswered[1]} ${unanswered[0]}.`, "input");
}

function emptyRefusal(items: readonly JsonObject[], body: JsonObject): Refusal | undefined {
  const isContinued = ["previous_response_id", "prompt", "conversation"].some((key) => isGiven(body[key]));
  if (items.length === 0 && !isContinued) {
    const text = `One of "input" or "previous_response_id" or 'prompt' or 'conversation' must be provided.`;
    return badRequest(text, "input", "missing_required_parameter");
  }
  const index = items.findIndex((item) => typeOf(item) === "message" && isEmpty(item["content"]));
  if (index === -1) return undefined;
  const place = `input[${index}].content`;
  const text = `Invalid '${place}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  return badRequest(text, place, "empty_array");
}

function isEmpty(content: unknown): boolean {
  return Array.isArray(content) && content.filter(isRecord).length === 0;
}

function typeOf(item: JsonObject): string {
  return stringOf(item["type"] ?? "message");
}

import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { ImportError } from "../../../base/errors.js";
import { isDeeperThan } from "../../../base/is-deeper-than.js";
import { isRecord, fieldsOf, textOf } from "../../../base/is-record.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import { ResponseItem, type ContentPart, type MessageItem, withCodexParts } from "../../../messages/response-item.js";
import { maxLineDepth, withoutMark } from "../../file/lines.js";
import { codyExportRecords, isCodyExport } from "./cody-export.js";
import { type Fields, nonBlankText, blocksOf, imagePart, messageOf, outputOf, textPart } from "../import/parts.js";
import type { Losses, ReadSource, SourceFacts, SourceRecord } from "../import/source.js";
import { isoTime } from "../lines/detect-format.js";
import { callItem, callOutputItem, reasoningItem } from "../lines/converted-items.js";

const knownItem = ResponseItem.options[0];

/** Maps serde's default names for the variants of the state document's `Message` to roles. */
const serdeRoles: ReadonlyMap<string, string> = new Map([
  ["User", "user"],
  ["Assistant", "assistant"],
  ["Tool", "tool"],
]);

/** Size limit, because a JSON value can only be parsed as a whole. */
const maxJsonBytes = 256 * 1024 * 1024;

/**
 * Reads one JSON value with a whole conversation: a list of items or messages, or an object with such a list or
 * turns.
 */
export const readJsonSource: ReadSource = async ({ path, bytes }, losses) => {
  if (bytes > maxJsonBytes) {
    throw new ImportError(path, `one JSON value can have ${maxJsonBytes / 1024 ** 2} MiB at most`);
  }
  const root = parsed(withoutMark((await readFile(path)).subarray(0, bytes)), path);
  const outer = fieldsOf(root);
  const history = Array.isArray(root) ? root : (outer["history"] ?? outer["messages"] ?? outer["items"] ?? outer);
  return { facts: factsOf(outer), records: conversationRecords(outer, history, losses) };
};

/** Whether a value looks like such a conversation. */
export function isJsonHistory(value: unknown): boolean {
  const { history, turns, messages, items } = fieldsOf(value);
  const list = Array.isArray(value) ? value : [history, turns, messages, items].find(Array.isArray);
  if (list === undefined) return Array.isArray(fieldsOf(history)["turns"]);
  return list.some(isRecord);
}

function parsed(bytes: Buffer, path: string): unknown {
  if (!isUtf8(bytes)) throw new ImportError(path, "it is not valid UTF-8");
  const root = jsonOrUndefined(bytes.toString("utf8"));
  if (typeof root !== "object" || root === null) throw new ImportError(path, "it is not valid JSON");
  if (isDeeperThan(root, maxLineDepth)) throw new ImportError(path, "it is nested too deeply");
  return root;
}

function factsOf(outer: Fields): SourceFacts {
  const config = fieldsOf(outer["config"] ?? outer["config_snapshot"]);
  const git = fieldsOf(fieldsOf(outer["metadata"])["git"]);
  return {
    id: textOf(outer["conversation_id"]) ?? textOf(outer["session_id"]) ?? textOf(outer["id"]),
    createdAt: textOf(outer["created_at"]),
    cwd: nonBlankText(config["cwd"]) ?? nonBlankText(outer["cwd"]),
    branch: nonBlankText(git["branch"]),
    commit: nonBlankText(git["commit_hash"]),
    repositoryUrl: nonBlankText(git["repository_url"]),
    provider: nonBlankText(config["provider"]) ?? nonBlankText(outer["provider"]),
    model: nonBlankText(config["model"]) ?? nonBlankText(outer["model"]),
  };
}

async function* conversationRecords(outer: Fields, history: unknown, losses: Losses): AsyncGenerator<SourceRecord> {
  yield* isCodyExport(outer) ? codyExportRecords(outer, losses) : historyRecords(outer, history, losses);
  // An export with a `name` field has the title only as an excerpt of its beginning.
  const name = nonBlankText("name" in outer ? outer["name"] : outer["title"]);
  if (name !== undefined) yield { type: "named", name };
}

function* historyRecords(outer: Fields, history: unknown, losses: Losses): Generator<SourceRecord> {
  let time = outer["created_at"];
  // A bare list of the state document's messages is read as one turn.
  const isMessages = Array.isArray(history) && history.some((message) => serdeMessage(message) !== undefined);
  const turns = isMessages ? [{ messages: history }] : fieldsOf(history)["turns"];
  const groups = Array.isArray(turns) ? turns : Array.isArray(history) ? history : [];
  for (const group of groups as readonly unknown[]) {
    const fields = fieldsOf(group);
    time = fields["timestamp"] ?? fields["created_at"] ?? time;
    const items = Array.isArray(turns) ? jsonTurnItems(fields, losses) : jsonItems(group, losses);
    for (const item of items) yield { type: "item", timestamp: isoTime(time), item };
  }
}

/**
 * The items of a turn of a `ConversationHistory`. Its messages contain the results of tools, the calls are in a list
 * beside them. Calls whose results follow each other were made together. A result whose call is not in the list gets a
 * call without arguments, so that it is not lost.
 */
function jsonTurnItems(turn: Fields, losses: Losses): ResponseItem[] {
  const rawMessages: readonly unknown[] = Array.isArray(turn["messages"]) ? turn["messages"] : [];
  const messages = rawMessages.map((message) => fieldsOf(serdeMessage(message) ?? message));
  const calls: readonly unknown[] = Array.isArray(turn["tool_calls"]) ? turn["tool_calls"] : [];
  const waiting = new Map(calls.map((call) => [callId(fieldsOf(call)), fieldsOf(call)]));
  const callOf = (result: Fields): ResponseItem[] => {
    const id = callId(result);
    const call = waiting.get(id);
    waiting.delete(id);
    if (call !== undefined) return callItems(call, losses);
    const name = textOf(result["name"]);
    if (name === undefined || id === "") return [];
    losses.count("tool_details");
    return [callItem(id, name, {})];
  };
  const items = messages.flatMap((message, at) => [
    ...(isFirstResult(messages, at) ? resultsFrom(messages, at).flatMap(callOf) : []),
    ...jsonItems(message, losses),
  ]);
  // Calls without a result come last.
  return [...items, ...[...waiting.values()].flatMap((call) => callItems(call, losses))];
}

function isFirstResult(messages: readonly Fields[], at: number): boolean {
  return isResult(messages[at]) && !isResult(messages[at - 1]);
}

function resultsFrom(messages: readonly Fields[], from: number): readonly Fields[] {
  const end = messages.findIndex((message, at) => at >= from && !isResult(message));
  return messages.slice(from, end === -1 ? undefined : end);
}

function isResult(message: Fields | undefined): boolean {
  return message !== undefined && roleOf(message) === "tool";
}

function callId(value: Fields): string {
  return textOf(value["call_id"]) ?? textOf(value["tool_call_id"]) ?? textOf(value["id"]) ?? "";
}

/** Converts one element of a JSON history: a history item, or a message in the form of chat APIs. */
function jsonItems(value: unknown, losses: Losses): ResponseItem[] {
  const item = withCodexParts(value);
  if (knownItem.safeParse(item).success) return [item as ResponseItem];
  const message = fieldsOf(serdeMessage(value) ?? value);
  const role = roleOf(message);
  switch (role) {
    case "user":
    case "developer":
      return messageOf(role, [...parts(role, message["content"], losses), ...attachments(message, losses)]);
    case "assistant":
      return assistantItems(message, losses);
    case "tool":
    case "function":
      return outputItems(message, losses);
    case "system":
      losses.count("system_messages");
      return [];
    default:
      losses.count("unknown_parts");
      return [];
  }
}

/** Converts a message in serde's default form, `{"User": {…}}`, to one with its role as a field. */
function serdeMessage(value: unknown): Fields | undefined {
  const [[key, fields] = ["", undefined], ...others] = Object.entries(fieldsOf(value));
  const role = serdeRoles.get(key);
  return role === undefined || others.length > 0 || !isRecord(fields) ? undefined : { role, ...fields };
}

/** Returns the role, which histories of conversations store in `type`. */
function roleOf(message: Fields): unknown {
  return message["role"] ?? message["type"];
}

function assistantItems(message: Fields, losses: Losses): ResponseItem[] {
  const reasoning =
    nonBlankText(message["reasoning"]) ??
    nonBlankText(message["reasoning_content"]) ??
    nonBlankText(message["thinking"]);
  const calls = message["tool_calls"];
  return [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning, undefined)]),
    ...messageOf("assistant", parts("assistant", message["content"] ?? "", losses)),
    ...(Array.isArray(calls) ? calls : []).flatMap((call: unknown) => callItems(fieldsOf(call), losses)),
  ];
}

function callItems(call: Fields, losses: Losses): ResponseItem[] {
  const { name, arguments: args, input } = { ...call, ...fieldsOf(call["function"]) };
  const id = textOf(call["id"]) ?? textOf(call["call_id"]);
  if (id === undefined || typeof name !== "string") {
    losses.count("unknown_parts");
    return [];
  }
  const written = args ?? input;
  if (typeof written !== "string") return [callItem(id, name, written)];
  return [{ type: "function_call", call_id: id, name, arguments: written }];
}

function outputItems(message: Fields, losses: Losses): ResponseItem[] {
  const id = textOf(message["tool_call_id"]) ?? textOf(message["call_id"]);
  if (id === undefined) {
    losses.count("unknown_parts");
    return [];
  }
  const content = message["content"] ?? message["result"] ?? message["output"];
  return [Array.isArray(content) ? outputOf(id, parts("user", content, losses)) : callOutputItem(id, content ?? "")];
}

function parts(role: MessageItem["role"], content: unknown, losses: Losses): ContentPart[] {
  const blocks = blocksOf(content);
  if (blocks === undefined) losses.count("unknown_parts");
  return (blocks ?? []).flatMap((block) => {
    const fields = typeof block === "string" ? { type: "text", text: block } : fieldsOf(block);
    const text = textOf(fields["text"]);
    if (text !== undefined) return text === "" ? [] : [textPart(role, text)];
    const image = imageOf(fields);
    if (image === undefined) losses.count(String(fields["type"]).includes("image") ? "images" : "unknown_parts");
    return image ?? [];
  });
}

function attachments(message: Fields, losses: Losses): ContentPart[] {
  return Array.isArray(message["attachments"]) ? parts("user", message["attachments"], losses) : [];
}

function imageOf(block: Fields): ContentPart | undefined {
  const url = textOf(block["image_url"]) ?? textOf(fieldsOf(block["image_url"])["url"]);
  if (url !== undefined) return { type: "input_image", image_url: url };
  const source = fieldsOf(block["source"]);
  return imagePart(block["mimeType"] ?? source["media_type"], block["data"] ?? source["data"]);
}

import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { isRecord } from "../../../base/is-record.js";
import { ImportError } from "../../../base/errors.js";
import { jsonOrUndefined } from "../../../base/parse.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { isDeeperThan, maxLineDepth, withoutMark } from "../../file/line-object.js";
import { codyExportRecords, isCodyExport } from "../../import/cody-export.js";
import { type Fields, fieldsOf, nonBlankText, textOf } from "../import/fields.js";
import type { Losses } from "../import/losses.js";
import type { ReadSource, SourceFacts, SourceRecord } from "../import/source.js";
import { isoTime } from "../lines/detect.js";
import { callItem } from "../lines/form-items.js";
import { jsonItems, serdeMessage, callItems, roleOf } from "./items.js";

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
  const given: readonly unknown[] = Array.isArray(turn["messages"]) ? turn["messages"] : [];
  const messages = given.map((message) => fieldsOf(serdeMessage(message) ?? message));
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

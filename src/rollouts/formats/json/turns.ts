import type { ResponseItem } from "../../../messages/response-item.js";
import { type Fields, fieldsOf, textOf } from "../import/fields.js";
import { called } from "../lines/form-items.js";
import { callItems, jsonItems, roleOf, serdeMessage } from "./items.js";
import type { Losses } from "../import/losses.js";

/**
 * The items of a turn of a `ConversationHistory`. Its messages contain the results of tools, the calls are in a list
 * beside them. Calls whose results follow each other were made together. A result whose call is not in the list gets a
 * call without arguments, so that it is not lost.
 */
export function jsonTurnItems(turn: Fields, losses: Losses): ResponseItem[] {
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
    return [called(id, name, {})];
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

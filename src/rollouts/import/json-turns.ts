import type { ResponseItem } from "../../messages/response-item.js";
import { type Fields, fieldsOf, textOf } from "./fields.js";
import { callItems, jsonItems } from "./json-items.js";
import type { Losses } from "./losses.js";

/**
 * A turn of a `ConversationHistory`: its messages have what tools gave back, and the calls stand beside them. Calls
 * whose results stand together were made together.
 */
export function jsonTurnItems(turn: Fields, losses: Losses): ResponseItem[] {
  const messages: readonly unknown[] = Array.isArray(turn["messages"]) ? turn["messages"] : [];
  const calls: readonly unknown[] = Array.isArray(turn["tool_calls"]) ? turn["tool_calls"] : [];
  const waiting = new Map(calls.map((call) => [callId(fieldsOf(call)), fieldsOf(call)]));
  const take = (ids: readonly string[]): ResponseItem[] =>
    ids.flatMap((id) => {
      const call = waiting.get(id);
      waiting.delete(id);
      return call === undefined ? [] : callItems(call, losses);
    });
  const items = messages.flatMap((message, at) => [
    ...(isResult(message) && !isResult(messages[at - 1]) ? take(resultIds(messages, at)) : []),
    ...jsonItems(message, losses),
  ]);
  // What has no result stands last.
  return [...items, ...take([...waiting.keys()])];
}

function resultIds(messages: readonly unknown[], from: number): string[] {
  const end = messages.findIndex((message, at) => at >= from && !isResult(message));
  return messages.slice(from, end === -1 ? undefined : end).map((message) => callId(fieldsOf(message)));
}

function isResult(message: unknown): boolean {
  const { role, type } = fieldsOf(message);
  return (role ?? type) === "tool";
}

function callId(value: Fields): string {
  return textOf(value["call_id"]) ?? textOf(value["tool_call_id"]) ?? textOf(value["id"]) ?? "";
}

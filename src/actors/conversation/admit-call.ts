import type { ResponseItem } from "../../messages/response-item.js";
import { type CallItem, isCall } from "./open-calls.js";

/** A call as it enters history, and why it must not run if it must not. */
export interface AdmittedCall {
  readonly call: CallItem;
  readonly problem: string | undefined;
}

/**
 * What the model asked for, made fit for history: an id nobody had before, so that every output has one call, and
 * arguments every wire API can carry. `sameAnswer` holds the ids the answer has used so far.
 */
export function admitCall(item: CallItem, history: readonly ResponseItem[], sameAnswer: Set<string>): AdmittedCall {
  const id = item.call_id ?? "";
  const doubled = sameAnswer.has(id);
  sameAnswer.add(id);
  const named = withOwnId(item, history);
  const { call, problem } = withObjectArguments(named);
  return { call, problem: doubled ? "the call id was used twice in one answer; nothing was run" : problem };
}

/** Some servers count calls from zero in every answer. */
function withOwnId(item: CallItem, history: readonly ResponseItem[]): CallItem {
  const id = item.call_id;
  if (typeof id !== "string") return item;
  const used = new Set(history.flatMap((other) => (isCall(other) ? [other.call_id] : [])));
  if (!used.has(id)) return item;
  let count = 2;
  while (used.has(`${id}_${count}`)) count += 1;
  return { ...item, call_id: `${id}_${count}` };
}

function withObjectArguments(call: CallItem): AdmittedCall {
  if (call.type !== "function_call") return { call, problem: undefined };
  // No arguments at all is how some models call a tool that needs none.
  if (call.arguments.trim() === "") return { call: { ...call, arguments: "{}" }, problem: undefined };
  if (isJsonObject(call.arguments)) return { call, problem: undefined };
  const problem = `the arguments of ${call.name} were no JSON object; nothing was run`;
  return { call: { ...call, arguments: "{}" }, problem };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

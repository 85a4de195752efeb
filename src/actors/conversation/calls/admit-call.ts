import { isRecord } from "../../../base/is-record.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import { nameAndArguments, type RunnableCallItem, isRunnableCall } from "./open-calls.js";

/** A call as it enters history, and the reason why it must not run, if any. */
export interface NormalizedCall {
  readonly call: RunnableCallItem;
  readonly problem: string | undefined;
  /** The arguments as the model wrote them. */
  readonly args: string;
}

/** Maximum number of calls of one answer that are run. */
export const maxCallsPerAnswer = 128;

/**
 * Makes the calls of one answer valid for history: a unique id, so that every output belongs to one call, and arguments
 * that every wire API can carry.
 */
export class CallNormalizer {
  readonly #used: Set<string>;
  readonly #received = new Set<string>();
  #count = 0;

  constructor(history: readonly ResponseItem[]) {
    this.#used = new Set(history.flatMap((item) => (isRunnableCall(item) ? [item.call_id ?? ""] : [])));
  }

  admit(item: RunnableCallItem): NormalizedCall {
    const id = item.call_id ?? "";
    const isDoubled = this.#received.has(id);
    this.#received.add(id);
    this.#count += 1;
    const { args } = nameAndArguments(item);
    const { call, problem } = withObjectArguments(this.#withOwnId(item));
    if (isDoubled) return { call, args, problem: "duplicate call id in one answer; nothing was run" };
    if (this.#count <= maxCallsPerAnswer) return { call, args, problem };
    return { call, args, problem: `more than ${maxCallsPerAnswer} calls in one answer; this one was not run` };
  }

  /** Some servers number calls from zero in every answer. */
  #withOwnId(item: RunnableCallItem): RunnableCallItem {
    const id = item.call_id;
    if (typeof id !== "string") return item;
    let own = id;
    for (let count = 2; this.#used.has(own); count += 1) own = `${id}_${count}`;
    this.#used.add(own);
    return own === id ? item : { ...item, call_id: own };
  }
}

function withObjectArguments(call: RunnableCallItem): Omit<NormalizedCall, "args"> {
  if (call.type !== "function_call") return { call, problem: undefined };
  // Some models call a tool without parameters with empty arguments.
  if (call.arguments.trim() === "") return { call: { ...call, arguments: "{}" }, problem: undefined };
  if (isJsonObject(call.arguments)) return { call, problem: undefined };
  const problem = `the arguments of ${call.name} are not a JSON object; nothing was run`;
  return { call: { ...call, arguments: "{}" }, problem };
}

function isJsonObject(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

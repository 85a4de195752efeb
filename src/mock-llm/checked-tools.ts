import { isRecord } from "../base/is-record.js";
import type { JsonObject } from "./json.js";

/** Clients send the same tools with every request, and a server has few clients. */
const maxKept = 16;

/** Wraps a check of tool lists; skips it for a list that recently passed. */
export function cacheToolCheck<No>(check: (tools: unknown) => No | undefined): (tools: unknown) => No | undefined {
  const fit = new FitValues();
  return (tools) => {
    if (fit.has(tools)) return undefined;
    const no = check(tools);
    if (no === undefined) fit.keep(tools);
    return no;
  };
}

/** Wraps a check of requests; leaves out tools that recently passed. */
export function withoutCheckedTools<No>(
  check: (body: JsonObject) => No | undefined,
): (body: JsonObject) => No | undefined {
  const fit = new FitValues();
  return (body) => {
    const { tools, ...rest } = body;
    if (fit.has(tools)) return check(rest);
    const no = check(body);
    if (no === undefined) fit.keep(tools);
    return no;
  };
}

class FitValues {
  readonly #newest: unknown[] = [];

  has(value: unknown): boolean {
    return this.#newest.some((kept) => isSame(kept, value));
  }

  /** Stores a copy, because the value itself is in the request log, where callers may change it. */
  keep(value: unknown): void {
    this.#newest.unshift(structuredClone(value));
    if (this.#newest.length > maxKept) this.#newest.pop();
  }
}

/** Whether two JSON values are equal, with their keys in the same order. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((part, index) => isSame(part, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const [names, others] = [Object.keys(left), Object.keys(right)];
  return (
    names.length === others.length &&
    names.every((name, index) => name === others[index] && isSame(left[name], right[name]))
  );
}

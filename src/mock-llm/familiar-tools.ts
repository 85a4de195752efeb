import { isRecord } from "../base/is-record.js";
import type { JsonObject } from "./json.js";

/** Clients send the same tools with every request, and a server has few clients. */
const maxKept = 16;

/** A check of lists of tools that is not made again of one of the newest it had nothing against. */
export function familiarTools<No>(check: (tools: unknown) => No | undefined): (tools: unknown) => No | undefined {
  const fit = new FitValues();
  return (tools) => {
    if (fit.has(tools)) return undefined;
    const no = check(tools);
    if (no === undefined) fit.keep(tools);
    return no;
  };
}

/** A check of requests that leaves out their tools where it had nothing against the same ones before. */
export function besideFamiliarTools<No>(
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

  /** A copy: the value itself stands in the log, where anybody may change it. */
  keep(value: unknown): void {
    this.#newest.unshift(structuredClone(value));
    if (this.#newest.length > maxKept) this.#newest.pop();
  }
}

/** Whether two values of JSON are the same, names in the same order. */
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

import { isRecord } from "../base/is-record.js";
import type { JsonObject } from "./json.js";
import type { Path, Problem } from "./problem.js";

/** The first problem among the entries of the list at `at` in the request. */
export function firstProblem(
  list: unknown,
  check: (entry: JsonObject, at: Path) => Problem | undefined,
  at: Path,
): Problem | undefined {
  if (!Array.isArray(list)) return undefined;
  for (const [index, entry] of list.entries()) {
    const problem = isRecord(entry) ? check(entry, [...at, index]) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

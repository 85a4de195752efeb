import type * as z from "zod";
import { isRecord } from "../base/is-record.js";
import { type JsonObject, objectOf } from "./json.js";

export type Path = readonly (string | number)[];

/** A problem with a request and its position; each wire API words it differently. */
export type Problem = { readonly path: Path; readonly received: unknown } & (
  | { readonly kind: "unknown" | "missing" }
  | { readonly kind: "type"; readonly expected: readonly string[] }
  | { readonly kind: "value"; readonly values: readonly string[] }
  | { readonly kind: "too_small" | "too_big"; readonly of: string; readonly limit: number }
  | { readonly kind: "pattern"; readonly pattern: string }
);

/** The first problem a schema finds in the value at `at` in the request. */
export function problemIn(schema: z.ZodType, value: unknown, at: Path = []): Problem | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue === undefined ? undefined : problemOf(issue, value, at);
}

type Issue = z.core.$ZodIssue;

function problemOf(issue: Issue, value: unknown, at: Path): Problem {
  const inner = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const received = inner.reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
  const path = [...at, ...inner];
  switch (issue.code) {
    case "unrecognized_keys":
      return { kind: "unknown", path: [...path, issue.keys[0] ?? ""], received };
    case "invalid_union":
      return unionProblem(issue.errors, received, path);
    case "invalid_value":
      if (received === undefined) return { kind: "missing", path, received };
      return { kind: "value", values: issue.values.map(String), path, received };
    case "too_small":
      return { kind: "too_small", of: issue.origin, limit: Number(issue.minimum), path, received };
    case "too_big":
      return { kind: "too_big", of: issue.origin, limit: Number(issue.maximum), path, received };
    case "invalid_format":
      return { kind: "pattern", pattern: String(issue.pattern).replace(/^\/(.*)\/\w*$/, "$1"), path, received };
    case "invalid_type":
      if (received === undefined) return { kind: "missing", path, received };
      return { kind: "type", expected: [issue.expected], path, received };
    default:
      return { kind: "type", expected: ["value"], path, received };
  }
}

/** If no alternative has the right type, names the types; otherwise reports the problem of the closest alternative. */
function unionProblem(alternatives: readonly Issue[][], received: unknown, path: Path): Problem {
  if (received === undefined) return { kind: "missing", path, received };
  const firsts = alternatives.flatMap((issues) => issues[0] ?? []);
  const closest = firsts.find((issue) => issue.path.length > 0 || issue.code !== "invalid_type");
  if (closest !== undefined) return problemOf(closest, received, path);
  const expected = firsts.flatMap((issue) => (issue.code === "invalid_type" ? [String(issue.expected)] : []));
  return { kind: "type", expected, path, received };
}

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

interface SubSchema {
  readonly schema: JsonObject;
  readonly path: Path;
}

/** Yields a JSON Schema and every schema inside it. */
export function* subSchemas(schema: unknown, path: Path = []): Generator<SubSchema> {
  if (!isRecord(schema)) return;
  yield { schema, path };
  for (const key of ["properties", "$defs", "definitions"]) {
    for (const [name, inner] of Object.entries(objectOf(schema[key]))) yield* subSchemas(inner, [...path, key, name]);
  }
  yield* subSchemas(schema["items"], [...path, "items"]);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const list = schema[key];
    if (!Array.isArray(list)) continue;
    for (const [index, inner] of list.entries()) yield* subSchemas(inner, [...path, key, index]);
  }
}

import type { IncomingHttpHeaders } from "node:http";
import type { Ids, Refusal } from "../wire-api.js";
import type { Problem } from "../problem.js";

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};
const messages: Readonly<Record<number, string>> = {
  429: "This request would exceed your organization's rate limit. Please try again later.",
  500: "Internal server error",
  529: "Overloaded",
};

/** The error body of the Messages API. */
export function anthropicError({ status, message, type, details }: Refusal, ids: Ids) {
  const byStatus = types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  const error = { type: type ?? byStatus, message, ...(details === undefined ? {} : { details }) };
  return { type: "error" as const, error, request_id: ids.next("req_01") };
}

export function anthropicMessageFor(status: number): string {
  return messages[status] ?? `The server answered with status ${status}.`;
}

export function anthropicKeyIn(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["x-api-key"];
  if (typeof key === "string") return key;
  return /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
}

export function wrongAnthropicKey(key: string | undefined): Refusal {
  return { status: 401, message: key === undefined ? "x-api-key header is required" : "invalid x-api-key" };
}

export function invalidMessages(message: string): Refusal {
  return { status: 400, message };
}

/** Describes a problem in the shape of a request with the Messages API's wording. */
export function anthropicRefusal(problem: Problem): Refusal {
  return invalidMessages(`${problem.path.join(".")}: ${textOf(problem)}`);
}

function textOf(problem: Problem): string {
  switch (problem.kind) {
    case "unknown":
      return "Extra inputs are not permitted";
    case "missing":
      return "Field required";
    case "type":
      return `Input should be a valid ${problem.expected.map(typeName).join(" or ")}`;
    case "value":
      return `Input should be ${listed(problem.values)}`;
    case "pattern":
      return `String should match pattern '${problem.pattern}'`;
    default:
      return boundText(problem);
  }
}

function boundText({ kind, of, limit, received }: Extract<Problem, { of: string }>): string {
  const side = kind === "too_small" ? "least" : "most";
  if (of === "array") {
    const length = (received as unknown[]).length;
    return `List should have at ${side} ${limit} item${limit === 1 ? "" : "s"} after validation, not ${length}`;
  }
  if (of === "string") return `String should have at ${side} ${limit} character${limit === 1 ? "" : "s"}`;
  return `Input should be ${kind === "too_small" ? "greater" : "less"} than or equal to ${limit}`;
}

const typeNames: Readonly<Record<string, string>> = {
  int: "integer",
  array: "list",
  object: "dictionary",
  record: "dictionary",
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

/** 'a', 'b' or 'c' */
function listed(values: readonly string[]): string {
  const [last = "", ...others] = values.map((value) => `'${value}'`).toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
}

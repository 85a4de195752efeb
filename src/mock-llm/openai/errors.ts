import type { IncomingHttpHeaders } from "node:http";
import type { Path, Problem } from "../problem.js";
import type { Refusal } from "../wire-api.js";

const types: Readonly<Record<number, string>> = { 429: "requests" };
const codes: Readonly<Record<number, string>> = { 429: "rate_limit_exceeded" };
const messages: Readonly<Record<number, string>> = {
  500: "The server had an error while processing your request. Sorry about that!",
  502: "Bad gateway.",
  503: "The engine is currently overloaded, please try again later",
  529: "The engine is currently overloaded, please try again later",
};

/** The error body of OpenAI's APIs. */
export function openAiError({ status, message, code, param, type }: Refusal) {
  const error = {
    message,
    type: type ?? types[status] ?? (status < 500 ? "invalid_request_error" : "server_error"),
    param: param ?? null,
    code: code ?? codes[status] ?? null,
  };
  return { error };
}

export function openAiMessageFor(status: number, waitSeconds: number): string {
  if (status === 429) return `Rate limit reached for requests. Please try again in ${waitSeconds}s.`;
  return messages[status] ?? `The server answered with status ${status}.`;
}

export function bearerIn({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
}

export function wrongOpenAiKey(key: string | undefined): Refusal {
  if (key === undefined) {
    const how =
      "You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)";
    return { status: 401, message: `You didn't provide an API key. ${how}.` };
  }
  const masked = key.length > 12 ? `${key.slice(0, 4)}${"*".repeat(8)}${key.slice(-4)}` : "*".repeat(key.length);
  const where = "You can find your API key at https://platform.openai.com/account/api-keys.";
  return { status: 401, message: `Incorrect API key provided: ${masked}. ${where}`, code: "invalid_api_key" };
}

export function unreadableOpenAi(): Refusal {
  const hint =
    "This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.";
  return badRequest(`We could not parse the JSON body of your request. (HINT: ${hint})`, null);
}

/** Many HTTP libraries default to a form or plain-text content type. */
export function contentTypeRefusal({ "content-type": type }: IncomingHttpHeaders): Refusal | undefined {
  if (type === undefined || /^application\/json\s*(?:;|$)/i.test(type)) return undefined;
  const rule = `This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: ${type}'.`;
  const text = `Unsupported content type: '${type}'. ${rule} Please try again with a supported content type.`;
  return badRequest(text, null, "unsupported_content_type");
}

export function badRequest(message: string, param: string | null, code: string | null = null): Refusal {
  return { status: 400, message, param, code };
}

/** Describes a problem in the shape of a request with OpenAI's wording. */
export function openAiRefusal(problem: Problem): Refusal {
  const param = openAiPath(problem.path);
  switch (problem.kind) {
    case "unknown":
      return badRequest(`Unknown parameter: '${param}'.`, param, "unknown_parameter");
    case "missing":
      return badRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
    case "type": {
      const [only = "", ...others] = problem.expected.map(typeName);
      const expected = others.length === 0 ? only : `one of ${[only, ...others].join(" or ")}`;
      const text = `Invalid type for '${param}': expected ${expected}, but got ${receivedName(problem.received)} instead.`;
      return badRequest(text, param, "invalid_type");
    }
    case "value": {
      const text = `Invalid value: '${displayValue(problem.received)}'. Supported values are: ${listed(problem.values)}.`;
      return badRequest(text, param, "invalid_value");
    }
    case "pattern": {
      const text = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${problem.pattern}'.`;
      return badRequest(text, param, "invalid_value");
    }
    default:
      return outOfBounds(problem, param);
  }
}

function outOfBounds(problem: Extract<Problem, { of: string }>, param: string): Refusal {
  const { kind, of, limit, received } = problem;
  if (of === "array" && kind === "too_small") {
    const text = `Invalid '${param}': empty array. Expected an array with minimum length ${limit}, but got an empty array instead.`;
    return badRequest(text, param, "empty_array");
  }
  if (of === "string" && kind === "too_small") {
    const text = `Invalid '${param}': empty string. Expected a string with minimum length ${limit}, but got an empty string instead.`;
    return badRequest(text, param, "empty_string");
  }
  if (of === "string" || of === "array") {
    const length = (received as { length: number }).length;
    const [article, word] = of === "string" ? ["a string", "string"] : ["an array", "array"];
    const text = `Invalid '${param}': ${word} too long. Expected ${article} with maximum length ${limit}, but got ${article} with length ${length} instead.`;
    return badRequest(text, param, `${word}_above_max_length`);
  }
  const number = Number.isInteger(received) ? "integer" : "decimal";
  const [side, sign, code] =
    kind === "too_small" ? ["below minimum", ">=", "below_min"] : ["above maximum", "<=", "above_max"];
  const text = `Invalid '${param}': ${number} ${side} value. Expected a value ${sign} ${limit}, but got ${String(received)} instead.`;
  return badRequest(text, param, `${number}_${code}_value`);
}

/** `input[0].content[1].text` */
function openAiPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a decimal",
  int: "an integer",
  boolean: "a boolean",
  array: "an array of objects",
  object: "an object",
  record: "an object",
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function receivedName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeName(typeof value);
}

function displayValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** 'a', 'b', and 'c' */
function listed(values: readonly string[]): string {
  const [last = "", ...others] = values.map((value) => `'${value}'`).toReversed();
  if (others.length === 0) return last;
  return `${others.toReversed().join(", ")}${others.length > 1 ? "," : ""} and ${last}`;
}

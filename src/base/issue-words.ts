import type * as z from "zod";

type Raw = z.core.$ZodRawIssue;
type Issue = z.core.$ZodIssue;
type Size = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig;

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  map: "an object",
  null: "null",
  undefined: "absent",
  never: "absent",
};
const formatNames: Readonly<Record<string, string>> = {
  url: "a URL",
  uuid: "a UUID",
  guid: "a UUID",
  email: "an email address",
  datetime: "a date and time such as 2026-01-31T12:00:00Z",
  date: "a date such as 2026-01-31",
  base64: "base64",
};
const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
  set: ["entry", "entries"],
  map: ["entry", "entries"],
  file: ["byte", "bytes"],
};

/** Describes a schema issue for a person. A schema's own error text takes precedence over this. */
export function issueWords(issue: Raw): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${typeName(issue.expected)}`;
    case "invalid_value":
      return `must be ${oneOf(issue.values)}`;
    case "too_small":
      return `must ${sizeWords(issue, issue.minimum, issue.inclusive === false ? "more than" : "at least")}`;
    case "too_big":
      return `must ${sizeWords(issue, issue.maximum, issue.inclusive === false ? "less than" : "at most")}`;
    case "invalid_format":
      return `must ${formatWords(issue as z.core.$ZodIssueInvalidStringFormat)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `unknown key${issue.keys.length === 1 ? "" : "s"} ${listed(issue.keys)}`;
    case "invalid_key":
      return `has a key that cannot be used: ${firstOf(issue.issues)}`;
    case "invalid_element":
      return `has an entry that cannot be used: ${firstOf(issue.issues)}`;
    case "invalid_union":
      return unionWords(issue);
    default:
      return "cannot be used";
  }
}

function typeName(expected: string): string {
  return typeNames[expected] ?? `of type ${expected}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? listed(values) : `one of ${listed(values)}`;
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === "bigint" ? `${value}` : JSON.stringify(value))).join(", ");
}

function sizeWords({ origin, exact }: Pick<Size, "origin" | "exact">, limit: unknown, bound: string): string {
  const unit = units[origin];
  const words = exact === true ? "exactly" : bound;
  if (unit === undefined) return `be ${words} ${String(limit)}`;
  if (words === "at least" && limit === 1) return "not be empty";
  return `have ${words} ${String(limit)} ${unit[limit === 1 ? 0 : 1]}`;
}

function formatWords(issue: z.core.$ZodIssueInvalidStringFormat): string {
  const { format } = issue;
  if (format === "starts_with") return `begin with ${listed([Object(issue)["prefix"]])}`;
  if (format === "ends_with") return `end with ${listed([Object(issue)["suffix"]])}`;
  if (format === "includes") return `contain ${listed([Object(issue)["includes"]])}`;
  if (format === "regex") return `match ${issue.pattern}`;
  return `be ${formatNames[format] ?? `a valid ${format}`}`;
}

/** Lists the accepted types. If one variant matches partly, describes the problem inside it instead. */
function unionWords({ errors, input, options }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (Array.isArray(options) && options.length > 0) return `must be ${oneOf(options)}`;
  if (input === undefined) return "is missing";
  const firsts = (errors ?? []).flatMap(([first]) => first ?? []);
  const inner = firsts.filter(({ path }) => path.length > 0);
  const [closest] = inner.toSorted((a, b) => b.path.length - a.path.length);
  if (closest !== undefined) return textOf(closest);
  const types = firsts.flatMap((issue) => (issue.code === "invalid_type" ? [typeName(issue.expected)] : []));
  if (types.length > 0 && types.length === firsts.length) return `must be ${[...new Set(types)].join(" or ")}`;
  return firsts.length === 0 ? "cannot be used" : [...new Set(firsts.map(({ message }) => message))].join(", or ");
}

function firstOf(issues: readonly Issue[]): string {
  return issues[0] === undefined ? "invalid value" : textOf(issues[0]);
}

function textOf({ path, message }: Issue): string {
  return path.length === 0 ? message : `${path.map(String).join(".")}: ${message}`;
}

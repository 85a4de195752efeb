import { type LineFormat, detectLineFormat, isoTime } from "./detect.js";

type FactsValue = Readonly<Record<string, unknown>>;

/**
 * Facts about a conversation in a line of a format other than Codex's. Loads no schema library, because lists use it.
 */
export interface LineFacts {
  /** Time of the line in ISO form. */
  readonly createdAt?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly commit?: string | undefined;
}

export function lineFacts(value: FactsValue): LineFacts {
  const form = detectLineFormat(value);
  return form === undefined ? {} : { createdAt: isoTime(value["timestamp"]), ...factsOf(form, value) };
}

function factsOf(form: LineFormat, value: FactsValue): LineFacts {
  if (form === "turn") return named(table(value["metadata"]));
  if (form === "entry") return { ...named(value), model: text(value["modelId"]), cwd: text(value["cwd"]) };
  const { type, projectPath, gitCommit, ...message } = table(value["message"]);
  if (type !== "session-start") return {};
  return { ...named(message), cwd: text(projectPath), commit: text(gitCommit) };
}

/** Returns the user's text in a line; undefined when it has no user message. */
export function foreignUserText(value: FactsValue): string | undefined {
  const { items, message } = value;
  if (detectLineFormat(value) === undefined) return undefined;
  const said = (Array.isArray(items) ? items : [message]).map(table).find(({ role }) => role === "user");
  if (said === undefined) return undefined;
  const { content } = said;
  return Array.isArray(content)
    ? content.flatMap((part) => text(table(part)["text"]) ?? []).join("\n")
    : (text(content) ?? "");
}

function named({ provider, model }: FactsValue): LineFacts {
  return { provider: text(provider), model: text(model) };
}

function table(value: unknown): FactsValue {
  return typeof value === "object" && value !== null ? (value as FactsValue) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

import { type Form, formOf, isoTime } from "./detect.js";

type Value = Readonly<Record<string, unknown>>;

/** What a line in another form than Codex's says about its conversation. Loads no schema library: lists need it. */
export interface FormFacts {
  /** When it was said, as Codex writes it. */
  readonly createdAt?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly commit?: string | undefined;
}

export function formFacts(value: Value): FormFacts {
  const form = formOf(value);
  return form === undefined ? {} : { createdAt: isoTime(value["timestamp"]), ...factsOf(form, value) };
}

function factsOf(form: Form, value: Value): FormFacts {
  if (form === "turn") return named(table(value["metadata"]));
  if (form === "entry") return { ...named(value), model: text(value["modelId"]), cwd: text(value["cwd"]) };
  const { type, projectPath, gitCommit, ...message } = table(value["message"]);
  if (type !== "session-start") return {};
  return { ...named(message), cwd: text(projectPath), commit: text(gitCommit) };
}

/** What a person says in it; undefined when nobody does. */
export function saidByUser(value: Value): string | undefined {
  const { items, message } = value;
  if (formOf(value) === undefined) return undefined;
  const said = (Array.isArray(items) ? items : [message]).map(table).find(({ role }) => role === "user");
  if (said === undefined) return undefined;
  const { content } = said;
  return Array.isArray(content)
    ? content.flatMap((part) => text(table(part)["text"]) ?? []).join("\n")
    : (text(content) ?? "");
}

function named({ provider, model }: Value): FormFacts {
  return { provider: text(provider), model: text(model) };
}

function table(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

import { isRecord } from "../../base/is-record.js";
import { jsonOrUndefined } from "../../base/parse.js";
import { bareId } from "../../base/text/conversation-id.js";
import { type TextRedactor, mask, type OnSecret } from "../../base/text/redaction.js";
import type { OwnLine, GitInfo, ImportOrigin } from "../../messages/rollout-line.js";
import type { StartSource } from "../../messages/turn-context.js";
import { version } from "../../version.js";

/** Codex's names for the ways to start a conversation. */
const codexSources = { interactive: "cli", non_interactive: "exec", mcp: "mcp" } as const satisfies Record<
  StartSource,
  string
>;

/** Structural, encrypted or technical keys, which never contain a secret of the user. */
const structure = new Set(
  (
    "type id call_id turn_id approval_id item_id thread_id forked_from_id role status timestamp " +
    "sha256 detail originator cli_version history_mode"
  ).split(" "),
);

/** Values that must stay intact unless they contain a known secret. */
const paths = new Set(["cwd", "model", "provider", "model_provider", "api", "effort", "branch", "commit_hash"]);

const images = new Set(["image_url", "images", "result"]);

/** Items signed by a provider, in all rollout formats that cody reads. */
const signedTypes = new Set<unknown>(["reasoning", "thinking"]);

const signatures = ["encrypted_content", "signature", "thinkingSignature"];

const signedTexts = new Set(["content", "thinking", "text"]);

const callTypes = new Set<unknown>(["function_call", "custom_tool_call"]);

const none: ReadonlySet<string> = new Set();

/** A line as written to a file. */
interface EncodedLine {
  readonly text: string;
  /** The secrets that were redacted. */
  readonly secrets: ReadonlySet<string>;
}

export type LineEncoder = (line: OwnLine) => EncodedLine;

/**
 * Encodes one line of a rollout, including its newline. `JSON.stringify` escapes newlines and lone surrogates, so the
 * text is always one line of valid UTF-8.
 */
export function encodeLine(line: OwnLine): string {
  return encoded(line, {});
}

/** Returns an encoder that redacts secrets and records their number beside the payload. */
export function lineEncoder(redactor: TextRedactor): LineEncoder {
  return (line) => {
    const text = encodeLine(line);
    if (!redactor.suspects(text)) return { text, secrets: none };
    const secrets = new Set<string>();
    const redacted = redactLine(line, redactor, (_, value) => secrets.add(value));
    return redacted === line ? { text, secrets } : { text: encoded(redacted, { redacted: secrets.size }), secrets };
  };
}

function encoded(line: OwnLine, notes: { readonly redacted?: number }): string {
  const { timestamp, type, payload } = line;
  // The metadata comes first, so that a reader of the metadata need not read a long payload.
  const metadata = "metadata" in line && line.metadata !== undefined ? { metadata: line.metadata } : {};
  return `${JSON.stringify({ timestamp, type, ...metadata, ...notes, payload })}\n`;
}

/** Returns the line without secrets, or the line itself if it has none. Accepts lines of any format. */
export function redactLine<T extends object>(line: T, redactor: TextRedactor, onSecret: OnSecret): T {
  return redactObject(line, redactor, onSecret) as T;
}

function redactValue(value: unknown, key: string, redactor: TextRedactor, onSecret: OnSecret): unknown {
  if (typeof value === "string") return redactString(value, key, redactor, onSecret);
  if (Array.isArray(value)) return redactList(value, (item) => redactValue(item, key, redactor, onSecret));
  return isRecord(value) ? redactObject(value, redactor, onSecret) : value;
}

function redactObject(value: object, redactor: TextRedactor, onSecret: OnSecret): object {
  const fields = value as Readonly<Record<string, unknown>>;
  const { type } = fields;
  const isSigned = signedTypes.has(type) && signatures.some((key) => typeof fields[key] === "string");
  return redactFields(value, (inner, key) => {
    // The signature covers this text, so it must not change.
    if (isSigned && signedTexts.has(key)) return inner;
    if (key === "name" && callTypes.has(type)) return inner;
    return redactValue(inner, key, redactor, onSecret);
  });
}

function redactString(text: string, key: string, redactor: TextRedactor, onSecret: OnSecret): string {
  if (structure.has(key) || signatures.includes(key)) return text;
  if (images.has(key) && text.startsWith("data:image/")) return text;
  if (paths.has(key)) return redactor.redactKnown(text, onSecret);
  if (key === "arguments" || key === "input") return redactJson(text, redactor, onSecret);
  return redactText(text, key, redactor, onSecret);
}

function redactText(text: string, key: string, redactor: TextRedactor, onSecret: OnSecret): string {
  const redacted = redactor.redact(text, onSecret);
  if (!redactor.isSecretField(key, redacted)) return redacted;
  onSecret("named", text);
  return mask;
}

/**
 * Redacts JSON written by a model so that it stays valid JSON; edits in place where possible to preserve numbers and
 * whitespace.
 */
function redactJson(text: string, redactor: TextRedactor, onSecret: OnSecret): string {
  const before = jsonOrUndefined(text);
  const redacted = redactor.redact(text, onSecret);
  if (!isCompound(before)) return redacted;
  const after = jsonOrUndefined(redacted);
  const source = isCompound(after) ? after : before;
  const clean = redactInner(source, "", redactor, onSecret);
  return isCompound(after) && clean === after ? redacted : JSON.stringify(clean);
}

/** Redacts values inside model-written JSON, where no key is exempt because the model chose the names. */
function redactInner(value: unknown, key: string, redactor: TextRedactor, onSecret: OnSecret): unknown {
  if (typeof value === "string") return redactText(value, key, redactor, onSecret);
  if (Array.isArray(value)) return redactList(value, (item) => redactInner(item, key, redactor, onSecret));
  return isRecord(value) ? redactFields(value, (inner, name) => redactInner(inner, name, redactor, onSecret)) : value;
}

/** Returns the list itself when nothing in it changed. */
function redactList(values: readonly unknown[], redact: (value: unknown) => unknown): readonly unknown[] {
  const redacted = values.map(redact);
  return redacted.every((value, index) => value === values[index]) ? values : redacted;
}

function redactFields(value: object, redact: (inner: unknown, key: string) => unknown): object {
  const entries = Object.entries(value) as [string, unknown][];
  const redacted = entries.map(([key, inner]) => [key, redact(inner, key)] as const);
  return redacted.every(([, inner], index) => inner === entries[index]?.[1]) ? value : Object.fromEntries(redacted);
}

function isCompound(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

interface SessionMetaInput {
  readonly conversationId: string;
  readonly now: Date;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly source: StartSource;
  /** The conversation from which this one was copied because it could not be resumed in its own file. */
  readonly resumes?: string | undefined;
  readonly git?: GitInfo | undefined;
  readonly forkedFrom?: string | undefined;
  readonly imported?: ImportOrigin | undefined;
}

/**
 * Builds the first line of a rollout. `model_provider` is left out, because Codex refuses to resume a conversation
 * whose provider is missing from its own configuration.
 */
export function sessionMetaLine(input: SessionMetaInput): OwnLine {
  const timestamp = input.now.toISOString();
  return {
    timestamp,
    type: "session_meta",
    metadata: {
      provider: input.provider,
      model: input.model,
      format: 1,
      ...(input.imported === undefined ? {} : { imported: input.imported }),
    },
    payload: {
      id: bareId(input.conversationId),
      ...(input.forkedFrom === undefined ? {} : { forked_from_id: bareId(input.forkedFrom) }),
      timestamp,
      cwd: input.cwd,
      originator: "cody",
      cli_version: version,
      source: codexSources[input.source],
      session_source: input.resumes === undefined ? input.source : { resume: input.resumes },
      ...(input.git === undefined ? {} : { git: input.git }),
    },
  };
}

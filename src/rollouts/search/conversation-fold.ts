import { isRealUserMessage } from "../../base/codex/context-message.js";
import { isRecord, fieldsOf, textOf } from "../../base/is-record.js";
import type { LineObject } from "../file/lines.js";
import { detectLineFormat } from "../formats/lines/detect-format.js";
import { ForeignLineReader } from "../formats/lines/foreign-line-reader.js";
import { titleOf, userText, contentText } from "../list/user-text.js";

const maxMessageChars = 256 * 1024;

/** Tool input and output is limited more strictly, because people rarely remember it. */
const maxToolChars = 16 * 1024;

type Value = Readonly<Record<string, unknown>>;

/** Reads one conversation line by line. Its state is plain data, so that another instance can continue. */
export class ConversationFold {
  readonly facts: ConversationFacts;
  readonly #forms: ForeignLineReader;
  readonly #texts = new Set<string>();

  constructor(id: string, facts: ConversationFacts = emptyFacts()) {
    this.facts = facts;
    this.#forms = new ForeignLineReader(id);
  }

  /** Returns the searchable messages of a line. */
  add(line: LineObject, offset: number): SearchableMessage[] {
    if (this.facts.title === undefined) this.#title(userText(line));
    if (detectLineFormat(line) === undefined) return this.#read(line, offset);
    this.facts.isForeign = true;
    const lines = this.#forms.linesOf(line)?.lines ?? [];
    return lines
      .flatMap((own) => this.#read(own, offset))
      .map((message, index) => ({ ...message, offset: offset + index }));
  }

  #title(text: string | undefined): void {
    const title = text === undefined ? undefined : titleOf(text);
    if (title !== undefined) this.facts.title = title;
  }

  #read(line: LineObject, offset: number): SearchableMessage[] {
    const payload = fieldsOf(line["payload"]);
    switch (line.type) {
      case "session_meta":
        this.#begin(payload, fieldsOf(line["metadata"]));
        return [];
      case "turn_context":
        this.#choose(payload["provider"], payload["model"]);
        return [];
      case "event_msg":
        if (payload["type"] === "token_count") this.#spend(fieldsOf(payload["info"]));
        return [];
      case "response_item":
        return this.#addMessage(payload, offset);
      case "cody":
        // At a branch of a tree the new items are contained in the replaced history.
        return this.facts.isForeign ? this.#addNewMessages(payload["items"], offset) : [];
      default:
        return [];
    }
  }

  #begin(payload: Value, metadata: Value): void {
    const { facts } = this;
    // The copied beginning of a conversation may contain first lines of its own.
    if (facts.startedAt !== undefined) return;
    const git = fieldsOf(payload["git"]);
    facts.startedAt = textOf(payload["timestamp"]) ?? "";
    Object.assign(facts, textFields({ cwd: payload["cwd"], cliVersion: payload["cli_version"] }));
    Object.assign(facts, textFields({ originator: payload["originator"], gitBranch: git["branch"] }));
    Object.assign(facts, textFields({ gitCommit: git["commit_hash"] }));
    this.#choose(metadata["provider"] ?? payload["model_provider"], metadata["model"]);
  }

  #choose(provider: unknown, model: unknown): void {
    Object.assign(this.facts, textFields({ provider, model }));
  }

  /**
   * Adds usage from a running total, which may be reported repeatedly; a smaller total means that counting started
   * over.
   */
  #spend(info: Value): void {
    const { facts } = this;
    const total = tokensIn(info["total_token_usage"]);
    const before = facts.spent.total <= total.total ? facts.spent : tokensIn({});
    const usage = usageOf(facts);
    usage.input += total.input - before.input;
    usage.cached += total.cached - before.cached;
    usage.output += total.output - before.output;
    usage.total += total.total - before.total;
    facts.spent = total;
  }

  #addMessage(item: Value, offset: number): SearchableMessage[] {
    const { facts } = this;
    const message = searchableText(item, facts.calls);
    if (message === undefined) return [];
    if (facts.isForeign) this.#texts.add(message.text);
    if (message.role === "user") {
      facts.turns += 1;
      usageOf(facts).turns += 1;
    } else if (message.kind === "message") facts.answers += 1;
    else if (message.kind === "call") facts.toolCalls += 1;
    return message.text.trim() === "" ? [] : [{ ...message, offset }];
  }

  #addNewMessages(items: unknown, offset: number): SearchableMessage[] {
    const fresh = (Array.isArray(items) ? items : []).map(fieldsOf).filter((item) => {
      const message = searchableText(item, {});
      return message !== undefined && !this.#texts.has(message.text);
    });
    return fresh.flatMap((item) => this.#addMessage(item, offset));
  }
}

function textFields(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries);
}

/** A searchable message, tool call or tool output. */
export interface SearchableMessage {
  /** Offset of the line in the file; further messages of the same line get consecutive numbers. */
  readonly offset: number;
  readonly role: "user" | "assistant" | "tool";
  readonly kind: "message" | "call" | "output";
  readonly text: string;
  readonly toolName: string | null;
}

type Item = Readonly<Record<string, unknown>>;

/** Returns the searchable text of an item. `calls` has the tool names of calls without an output yet. */
function searchableText(item: Item, calls: Record<string, string>): Omit<SearchableMessage, "offset"> | undefined {
  const { type, role } = item;
  switch (type) {
    case "message":
      if (role === "assistant") return messageEntry("assistant", contentText(item["content"]));
      return isRealUserMessage({ type, role, content: item["content"] })
        ? messageEntry("user", contentText(item["content"]))
        : undefined;
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return callEntry(item, calls);
    case "function_call_output":
    case "custom_tool_call_output":
      return outputEntry(item, calls);
    default:
      return undefined;
  }
}

function messageEntry(role: "user" | "assistant", text: string): Omit<SearchableMessage, "offset"> {
  return { role, kind: "message", text: plain(text, maxMessageChars), toolName: null };
}

function callEntry(item: Item, calls: Record<string, string>): Omit<SearchableMessage, "offset"> {
  const name = typeof item["name"] === "string" ? item["name"] : "shell";
  if (typeof item["call_id"] === "string") calls[item["call_id"]] = name;
  const input = item["arguments"] ?? item["input"] ?? item["action"];
  return { role: "assistant", kind: "call", text: plain(textOrJson(input), maxToolChars), toolName: name };
}

function outputEntry(item: Item, calls: Record<string, string>): Omit<SearchableMessage, "offset"> {
  const id = typeof item["call_id"] === "string" ? item["call_id"] : "";
  const toolName = Object.hasOwn(calls, id) ? (calls[id] ?? null) : null;
  // Removed once answered, because pending calls are stored with the other facts.
  Reflect.deleteProperty(calls, id);
  const { output } = item;
  const text = Array.isArray(output) ? contentText(output) : textOrJson(output);
  return { role: "tool", kind: "output", text: plain(text, maxToolChars), toolName };
}

function textOrJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** Makes a text storable in the database unchanged: no lone surrogates, and no NUL, which would end it. */
function plain(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed().replaceAll("\0", " ");
}

export interface Tokens {
  input: number;
  /** Input tokens served from the provider's cache. */
  cached: number;
  output: number;
  total: number;
}

/** A conversation's token usage of one model. */
export interface ModelUsage extends Tokens {
  readonly provider: string;
  readonly model: string;
  turns: number;
}

/** Facts about a conversation besides its messages; plain data, so that it can be stored and continued later. */
export interface ConversationFacts {
  startedAt?: string;
  cwd?: string;
  cliVersion?: string;
  originator?: string;
  gitBranch?: string;
  gitCommit?: string;
  title?: string;
  /** The provider and model of the last turn. */
  provider?: string;
  model?: string;
  /** The file is not in Codex's format, so reading cannot resume in its middle. */
  isForeign: boolean;
  turns: number;
  answers: number;
  toolCalls: number;
  /** Total usage according to the last report. */
  spent: Tokens;
  usage: ModelUsage[];
  /** Tool names of calls without an output yet, by call id. */
  calls: Record<string, string>;
}

function emptyFacts(): ConversationFacts {
  return { isForeign: false, turns: 0, answers: 0, toolCalls: 0, spent: noTokens(), usage: [], calls: {} };
}

/** Returns the usage entry of the current model and creates it if necessary. */
function usageOf({ usage, provider = "unknown", model = "unknown" }: ConversationFacts): ModelUsage {
  const known = usage.find((each) => each.provider === provider && each.model === model);
  if (known !== undefined) return known;
  const fresh = { provider, model, turns: 0, ...noTokens() };
  usage.push(fresh);
  return fresh;
}

function tokensIn(value: unknown): Tokens {
  if (!isRecord(value)) return noTokens();
  return {
    input: count(value["input_tokens"]),
    cached: count(value["cached_input_tokens"]),
    output: count(value["output_tokens"]),
    total: count(value["total_tokens"]),
  };
}

function noTokens(): Tokens {
  return { input: 0, cached: 0, output: 0, total: 0 };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

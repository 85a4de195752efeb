import { isRecord } from "../../base/is-record.js";
import { ForeignLineReader } from "../formats/lines/form-reader.js";
import { detectLineFormat } from "../formats/lines/detect.js";
import type { LineObject } from "../file/line-object.js";
import { titleOf } from "../list/title.js";
import { userText } from "../user-text.js";
import { emptyFacts, type ConversationFacts, tokensIn, usageOf } from "./conversation-facts.js";
import { type SearchableMessage, searchableText } from "./said-message.js";

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

  #title(said: string | undefined): void {
    const title = said === undefined ? undefined : titleOf(said);
    if (title !== undefined) this.facts.title = title;
  }

  #read(line: LineObject, offset: number): SearchableMessage[] {
    const payload = table(line["payload"]);
    switch (line.type) {
      case "session_meta":
        this.#begin(payload, table(line["metadata"]));
        return [];
      case "turn_context":
        this.#choose(payload["provider"], payload["model"]);
        return [];
      case "event_msg":
        if (payload["type"] === "token_count") this.#spend(table(payload["info"]));
        return [];
      case "response_item":
        return this.#say(payload, offset);
      case "cody":
        // At a branch of a tree the new items are contained in the replaced history.
        return this.facts.isForeign ? this.#sayNew(payload["items"], offset) : [];
      default:
        return [];
    }
  }

  #begin(payload: Value, metadata: Value): void {
    const { facts } = this;
    // The copied beginning of a conversation may contain first lines of its own.
    if (facts.startedAt !== undefined) return;
    const git = table(payload["git"]);
    facts.startedAt = textOrUndefined(payload["timestamp"]) ?? "";
    Object.assign(facts, given({ cwd: payload["cwd"], cliVersion: payload["cli_version"] }));
    Object.assign(facts, given({ originator: payload["originator"], gitBranch: git["branch"] }));
    Object.assign(facts, given({ gitCommit: git["commit_hash"] }));
    this.#choose(metadata["provider"] ?? payload["model_provider"], metadata["model"]);
  }

  #choose(provider: unknown, model: unknown): void {
    Object.assign(this.facts, given({ provider, model }));
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

  #say(item: Value, offset: number): SearchableMessage[] {
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

  #sayNew(items: unknown, offset: number): SearchableMessage[] {
    const fresh = (Array.isArray(items) ? items : []).map(table).filter((item) => {
      const message = searchableText(item, {});
      return message !== undefined && !this.#texts.has(message.text);
    });
    return fresh.flatMap((item) => this.#say(item, offset));
  }
}

function given(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries);
}

function table(value: unknown): Value {
  return isRecord(value) ? value : {};
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

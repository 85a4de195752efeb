import { createHash } from "node:crypto";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { Compacted, OwnLine } from "../../../messages/rollout-line.js";
import { addUsage, noTokens, type TokenUsage } from "../../../messages/token-usage.js";

/** One event of a turn. */
export type TurnEntry =
  | { readonly type: "item"; readonly timestamp: string; readonly item: ResponseItem }
  | { readonly type: "compacted"; readonly timestamp: string; readonly compacted: Compacted }
  /** The history was replaced from outside; `unseen` are the items that were not in the conversation before. */
  | {
      readonly type: "replaced";
      readonly timestamp: string;
      readonly items: readonly ResponseItem[];
      readonly unseen: ResponseItem[];
    }
  | { readonly type: "rolled_back"; readonly timestamp: string; readonly turns: number };

type TurnStatus = "complete" | "aborted" | "failed" | "open";

/** A turn with everything that happened in it, even if the model no longer sees it. */
export interface ExportedTurn {
  /** Starts at 1. */
  readonly number: number;
  readonly id: string | null;
  readonly startedAt: string;
  readonly entries: TurnEntry[];
  status: TurnStatus;
  failure?: string;
  provider?: string;
  model?: string;
  usage: TokenUsage;
}

type EventLine = Extract<OwnLine, { type: "event_msg" }>;

/**
 * Collects lines into turns and returns each turn when the next one begins, so that only one is in memory. Turns
 * without start and end events, as in old Codex and other formats, begin with a user message after an answer.
 */
export class TurnCollector {
  readonly #seen: Set<string> | undefined;
  #current: ExportedTurn | undefined;
  #count = 0;
  #mode: "framed" | "unframed" | "over" = "over";
  #isAnswered = false;
  /** A started turn without items; until it has one, events belong to the turn before. */
  #announced: { readonly id: string; readonly startedAt: string } | undefined;
  #labels: Pick<ExportedTurn, "provider" | "model"> = {};

  /** `remembersItems` remembers every item, which is needed to find the new items of a replaced history. */
  constructor({ remembersItems }: { readonly remembersItems: boolean }) {
    this.#seen = remembersItems ? new Set() : undefined;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a line and returns the turn that it ends, if any. */
  add(line: OwnLine): ExportedTurn | undefined {
    const { timestamp } = line;
    switch (line.type) {
      case "session_meta":
        this.#label(metaLabels(line));
        return undefined;
      case "turn_context":
        this.#label({ model: line.payload.model, provider: line.payload.provider });
        // Old Codex writes this line once per turn instead of turn events, even for a turn interrupted before an
        // answer.
        if (this.#mode === "unframed" && this.#current?.entries.some(startsTurn)) this.#isAnswered = true;
        return undefined;
      case "response_item":
        return this.#item(line.payload, timestamp);
      case "compacted":
        return this.#addEntry({ type: "compacted", timestamp, compacted: line.payload });
      case "cody":
        if (line.payload.type !== "history_replaced") return undefined;
        return this.#addEntry(this.#replaced(line.payload.items, timestamp));
      case "event_msg":
        break;
    }
    return this.#event(line);
  }

  /** Returns the last turn. */
  end(): ExportedTurn | undefined {
    return this.#current;
  }

  #item(item: ResponseItem, timestamp: string): ExportedTurn | undefined {
    this.#isNew(item);
    const isUserMessage = isRealUserMessage(item) && !("pinned" in item && item.pinned === true);
    const before = this.#startsTurn(isUserMessage) ? this.#start(timestamp) : undefined;
    this.#current?.entries.push({ type: "item", timestamp, item });
    if (item.type === "message" ? item.role === "assistant" : item.type !== "ghost_snapshot") this.#isAnswered = true;
    return before;
  }

  #startsTurn(isUserMessage: boolean): boolean {
    if (this.#current === undefined || this.#announced !== undefined) return true;
    return isUserMessage && (this.#mode === "over" || (this.#mode === "unframed" && this.#isAnswered));
  }

  #start(timestamp: string): ExportedTurn | undefined {
    const { id = null, startedAt = timestamp } = this.#announced ?? {};
    const old = this.#current;
    // Context injected before a turn belongs to that turn.
    const isContext = old?.id === null && !this.#isAnswered && !old.entries.some(startsTurn);
    if (!isContext) this.#count += 1;
    this.#current = {
      number: this.#count,
      id,
      startedAt,
      entries: isContext ? old.entries : [],
      status: this.#announced === undefined ? "complete" : "open",
      usage: isContext ? old.usage : noTokens,
      ...this.#labels,
    };
    this.#mode = this.#announced === undefined ? "unframed" : "framed";
    this.#announced = undefined;
    this.#isAnswered = false;
    return isContext ? undefined : old;
  }

  #addEntry(entry: TurnEntry): ExportedTurn | undefined {
    const before = this.#current === undefined ? this.#start(entry.timestamp) : undefined;
    this.#current?.entries.push(entry);
    return before;
  }

  #event({ payload, timestamp }: EventLine): ExportedTurn | undefined {
    switch (payload.type) {
      case "task_started":
        this.#announced = { id: payload.turn_id, startedAt: timestamp };
        return undefined;
      case "task_complete":
        this.#finish(payload.error ? "failed" : "complete", payload.error?.message);
        return undefined;
      case "turn_aborted":
        this.#finish("aborted");
        return undefined;
      case "token_count":
        if (payload.info !== null && this.#current !== undefined) {
          this.#current.usage = addUsage(this.#current.usage, payload.info.last_token_usage);
        }
        return undefined;
      case "thread_rolled_back":
        return this.#addEntry({ type: "rolled_back", timestamp, turns: payload.num_turns });
      default:
        return undefined;
    }
  }

  #finish(status: TurnStatus, failure?: string): void {
    const isEmpty = this.#announced !== undefined;
    this.#announced = undefined;
    this.#mode = "over";
    if (isEmpty || this.#current === undefined) return;
    this.#current.status = status;
    if (failure !== undefined) this.#current.failure = failure;
  }

  #label({ provider, model }: { readonly provider?: string | undefined; readonly model?: string | undefined }): void {
    const facts = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
    Object.assign(this.#labels, facts);
    if (this.#mode !== "over" && this.#announced === undefined) Object.assign(this.#current ?? {}, facts);
  }

  #replaced(items: readonly ResponseItem[], timestamp: string): TurnEntry {
    return { type: "replaced", timestamp, items, unseen: items.filter((item) => this.#isNew(item)) };
  }

  #isNew(item: ResponseItem): boolean {
    if (this.#seen === undefined) return false;
    const digest = createHash("sha1").update(JSON.stringify(item)).digest("base64");
    if (this.#seen.has(digest)) return false;
    this.#seen.add(digest);
    return true;
  }
}

function startsTurn(entry: TurnEntry): boolean {
  return entry.type !== "item" || isRealUserMessage(entry.item);
}

function metaLabels({ payload, metadata }: Extract<OwnLine, { type: "session_meta" }>): {
  readonly provider: string | undefined;
  readonly model: string | undefined;
} {
  const { provider, model } = Object(metadata) as Readonly<Record<string, unknown>>;
  return {
    provider: typeof provider === "string" ? provider : (payload.model_provider ?? undefined),
    model: typeof model === "string" ? model : undefined,
  };
}

/** Yields the turns of a conversation one by one, each when it is complete. */
export async function* readTurns(batches: AsyncIterable<readonly OwnLine[]>): AsyncGenerator<ExportedTurn> {
  const turns = new TurnCollector({ remembersItems: true });
  for await (const batch of batches) {
    for (const line of batch) {
      const over = turns.add(line);
      if (over !== undefined) yield over;
    }
  }
  const last = turns.end();
  if (last !== undefined) yield last;
}

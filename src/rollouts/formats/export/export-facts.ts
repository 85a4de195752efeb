import { textOf } from "../../../base/is-record.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { bareId, shownId } from "../../../base/text/conversation-id.js";
import { isPrintable } from "../../../base/text/conversation-name.js";
import { shortened } from "../../../base/text/truncate.js";
import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine, SessionMeta } from "../../../messages/rollout-line.js";
import type { TokenUsageInfo } from "../../../messages/token-usage.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import { callOf } from "../../history-messages.js";
import { type ExportedTurn, TurnCollector } from "./turns.js";

const maxTitleChars = 80;

interface TurnHeading {
  readonly number: number;
  readonly title: string;
}

/** The facts that must be known before the first line of an export is written. */
export interface ExportFacts {
  readonly conversationId: string;
  /** Number of lines to export; lines appended later are ignored. */
  readonly lines: number;
  readonly title: string;
  readonly name: string | undefined;
  readonly createdAt: string;
  readonly lastUpdated: string;
  readonly meta: SessionMeta | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** The settings of the newest turn. */
  readonly context: TurnContext | undefined;
  readonly usage: TokenUsageInfo | null;
  readonly headings: readonly TurnHeading[];
  readonly items: number;
  readonly messages: number;
  readonly toolCalls: number;
  readonly compactions: number;
  /** Indexes, from 0, of user messages without an event; Codex shows only messages that have one. */
  readonly silent: ReadonlySet<number>;
}

/** Reads the whole conversation once, so that damage is found before anything is written. */
export async function surveyConversation(
  conversationId: string,
  batches: AsyncIterable<readonly OwnLine[]>,
): Promise<ExportFacts> {
  const facts = new Facts();
  for await (const batch of batches) for (const line of batch) facts.add(line);
  return facts.survey(conversationId);
}

class Facts {
  readonly #turns = new TurnCollector({ remembersItems: false });
  readonly #headings: TurnHeading[] = [];
  readonly #silent = new Set<number>();
  #lines = 0;
  #meta: Extract<OwnLine, { type: "session_meta" }> | undefined;
  #firstContext: TurnContext | undefined;
  #context: TurnContext | undefined;
  #name: string | undefined;
  #usage: TokenUsageInfo | null = null;
  #firstTime: string | undefined;
  #lastTime: string | undefined;
  #items = 0;
  #messages = 0;
  #toolCalls = 0;
  #compactions = 0;
  #userMessages = 0;

  add(line: OwnLine): void {
    this.#lines += 1;
    this.#time(line.timestamp);
    this.#heading(this.#turns.add(line));
    switch (line.type) {
      case "session_meta":
        this.#meta ??= line;
        break;
      case "turn_context":
        this.#firstContext ??= line.payload;
        this.#context = line.payload;
        break;
      case "response_item":
        this.#item(line.payload);
        break;
      case "compacted":
        this.#compactions += 1;
        break;
      case "event_msg":
        if (line.payload.type === "user_message") this.#silent.delete(this.#userMessages - 1);
        if (line.payload.type === "token_count" && line.payload.info !== null) this.#usage = line.payload.info;
        break;
      case "cody":
        // A file may contain a name that cody would not have accepted.
        if (line.payload.type === "named" && isPrintable(line.payload.name)) this.#name = line.payload.name;
        break;
    }
  }

  survey(conversationId: string): ExportFacts {
    this.#heading(this.#turns.end());
    const metadata = Object(this.#meta?.metadata) as Readonly<Record<string, unknown>>;
    const name = this.#name;
    const createdAt = this.#meta?.payload.timestamp ?? this.#firstTime ?? new Date(0).toISOString();
    return {
      conversationId,
      lines: this.#lines,
      title: name ?? this.#headings.find(({ title }) => title !== "")?.title ?? conversationId,
      name,
      createdAt,
      lastUpdated: this.#lastTime ?? createdAt,
      meta: this.#meta?.payload,
      provider: textOf(metadata["provider"]) ?? this.#meta?.payload.model_provider ?? this.#firstContext?.provider,
      model: textOf(metadata["model"]) ?? this.#firstContext?.model,
      context: this.#context,
      usage: this.#usage,
      headings: this.#headings,
      items: this.#items,
      messages: this.#messages,
      toolCalls: this.#toolCalls,
      compactions: this.#compactions,
      silent: this.#silent,
    };
  }

  #time(timestamp: string): void {
    if (Number.isNaN(Date.parse(timestamp))) return;
    this.#firstTime ??= timestamp;
    if (this.#lastTime === undefined || Date.parse(timestamp) >= Date.parse(this.#lastTime)) this.#lastTime = timestamp;
  }

  #item(item: ResponseItem): void {
    this.#items += 1;
    if (item.type === "message" && (item.role === "assistant" || isRealUserMessage(item))) this.#messages += 1;
    if (callOf(item) !== undefined) this.#toolCalls += 1;
    if (!isRealUserMessage(item)) return;
    this.#silent.add(this.#userMessages);
    this.#userMessages += 1;
  }

  #heading(turn: ExportedTurn | undefined): void {
    if (turn !== undefined) this.#headings.push({ number: turn.number, title: turnTitle(turn) });
  }
}

/** Returns a turn's title: the first line of the user's message. */
export function turnTitle({ entries }: Pick<ExportedTurn, "entries">): string {
  for (const entry of entries) {
    if (entry.type !== "item" || !isRealUserMessage(entry.item)) continue;
    const [line] = messageText(entry.item)
      .trim()
      .split(/\s*[\r\n]+\s*/, 1);
    if (line !== undefined && line !== "") return shortened(line, maxTitleChars);
  }
  return "";
}

/** Input of a format's writer. */
export interface WriterInput {
  readonly survey: ExportFacts;
  readonly batches: AsyncIterable<readonly OwnLine[]>;
  /** Counts content that the format cannot represent. */
  readonly leave: (kind: string) => void;
}

/** Returns the facts about a conversation that a transcript lists. */
export function factRows(survey: ExportFacts): (readonly [label: string, value: string])[] {
  const { conversationId, provider, model, meta, usage, headings, toolCalls, compactions } = survey;
  const counts = [
    countText(headings.length, "turn"),
    countText(toolCalls, "tool call"),
    ...(compactions === 0 ? [] : [countText(compactions, "compaction")]),
  ];
  const rows = [
    ["Conversation", shownId(bareId(conversationId))],
    ["Begun", minuteOf(survey.createdAt)],
    ["Last change", minuteOf(survey.lastUpdated)],
    ["Model", [provider, model].filter((label) => label !== undefined).join(", ")],
    ["Folder", meta?.cwd ?? ""],
    ["Branch", meta?.git?.branch ?? ""],
    ["Length", counts.join(", ")],
    ["Tokens", usage === null ? "" : grouped(usage.total_token_usage.total_tokens)],
  ] as const;
  return rows.filter(([, value]) => value !== "");
}

export function countText(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Formats a time to the minute, in UTC because the reader's time zone is unknown. */
export function minuteOf(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  return `${date.toISOString().slice(0, "2026-11-17T13:05".length).replace("T", " ")} UTC`;
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

import { isCodexSummary } from "../../../base/codex/codex-summary.js";
import { bareId } from "../../../base/text/conversation-id.js";
import { estimatedTokens } from "../../../base/text/truncate.js";
import { messageText, type ResponseItem, itemText } from "../../../messages/response-item.js";
import type { Compacted, OwnLine } from "../../../messages/rollout-line.js";
import type { TurnContext } from "../../../messages/turn-context.js";
import { applyToHistory } from "../../file/history.js";
import { type PlainPart, plainPart } from "../export/parts.js";
import type { ExportFacts, WriterInput } from "../export/export-facts.js";

/** Version of the session format that supports compactions. */
const sessionVersion = 2;

const idDigits = 8;

const label = "[Session Summary]\n";

const fileLists = /(?:^|\n)\n?## Files (?:Read|Modified)\n(?:(?:- .*|## Files (?:Read|Modified)|)(?:\n|$))*$/;

/** Writes a tree of entries with the complete conversation, its compactions and its rollbacks. */
export async function* writeDiligent({ survey, batches, leave }: WriterInput): AsyncGenerator<string> {
  const entries = new EntryWriter(survey, leave);
  const history: ResponseItem[] = [];
  yield* entries.begin();
  for await (const batch of batches) {
    for (const line of batch) yield* linesOf(entries, history, line);
  }
  yield* entries.end(survey.lastUpdated);
}

function* linesOf(entries: EntryWriter, history: ResponseItem[], line: OwnLine): Generator<string> {
  const { timestamp } = line;
  const before = line.type === "compacted" ? [...history] : [];
  const length = history.length;
  applyToHistory(history, line);
  switch (line.type) {
    case "response_item":
      if (history.length > length) yield* entries.item(line.payload, timestamp);
      return;
    case "turn_context":
      yield* entries.model(line.payload, timestamp);
      return;
    case "compacted":
      yield* compacted(entries, { before, after: history, compacted: line.payload, timestamp });
      return;
    case "cody":
      if (line.payload.type === "history_replaced") yield* entries.restart(history, timestamp);
      return;
    case "event_msg":
      if (line.payload.type === "thread_rolled_back") yield* entries.goBack(history, timestamp);
      return;
    case "session_meta":
      return;
  }
}

interface Change {
  readonly before: readonly ResponseItem[];
  readonly after: readonly ResponseItem[];
  readonly compacted: Compacted;
  readonly timestamp: string;
}

/**
 * Writes the summary first and then the kept items, as the format requires. A compaction without a summary starts a
 * new tree.
 */
function* compacted(entries: EntryWriter, { before, after, compacted: record, timestamp }: Change): Generator<string> {
  const at = summaryAt(after, record);
  const summary = after[at];
  if (summary?.type !== "message") {
    yield* entries.restart(after, timestamp);
    return;
  }
  const { cody } = record;
  yield* entries.compaction({
    summary: messageText(summary),
    summaryItem: summary,
    before,
    kept: after.toSpliced(at, 1),
    after,
    tokensBefore: cody?.tokens_before ?? tokensIn(before),
    tokensAfter: cody?.tokens_after ?? tokensIn(after),
    ...(cody === undefined ? {} : { details: { readFiles: cody.read_files, modifiedFiles: cody.modified_files } }),
    timestamp,
  });
}

/** Finds the summary: cody's has a flag, Codex's is the last item with the text of the record. */
function summaryAt(items: readonly ResponseItem[], { message }: Compacted): number {
  const own = items.findIndex((item) => item.type === "message" && item.summary === true);
  if (own !== -1) return own;
  return items.findLastIndex((item) => {
    if (item.type !== "message" || item.role !== "user") return false;
    const text = messageText(item);
    return (message !== "" && text === message) || isCodexSummary(text);
  });
}

function tokensIn(items: readonly ResponseItem[]): number {
  return estimatedTokens(items.map(itemText).join(""));
}

interface CompactionEntry {
  readonly summary: string;
  readonly summaryItem: ResponseItem;
  readonly before: readonly ResponseItem[];
  /** The history without the summary. */
  readonly kept: readonly ResponseItem[];
  readonly after: readonly ResponseItem[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly details?: { readonly readFiles: readonly string[]; readonly modifiedFiles: readonly string[] };
  readonly timestamp: string;
}

interface Place {
  readonly id: string;
  /** Whether the item is the first of its entry: consecutive model items share one entry. */
  readonly isFirst: boolean;
}

/** Writes entries that each name their predecessor. */
class EntryWriter {
  readonly #survey: ExportFacts;
  readonly #leave: (kind: string) => void;
  /** The entry of each item in the current history; all of them are on the path from the root to the leaf. */
  readonly #places = new WeakMap<ResponseItem, Place>();
  readonly #names = new Map<string, string>();
  #count = 0;
  /** The entry after which the conversation continues. */
  #leaf: string | null = null;
  #written: string | null = null;
  /** Leaf and length of the history when it was last replaced. */
  #base: { readonly leaf: string | null; readonly length: number } = { leaf: null, length: 0 };
  /** Consecutive model items that are not written yet. */
  #row: { readonly timestamp: string; readonly items: ResponseItem[]; readonly blocks: object[] } | undefined;
  #model = "";

  constructor(survey: ExportFacts, leave: (kind: string) => void) {
    this.#survey = survey;
    this.#leave = leave;
  }

  *begin(): Generator<string> {
    const { conversationId, createdAt, meta, provider, model, name } = this.#survey;
    const header = { type: "session", version: sessionVersion, id: bareId(conversationId), timestamp: createdAt };
    yield `${JSON.stringify({ ...header, cwd: meta?.cwd ?? "/" })}\n`;
    if (name !== undefined) yield this.#entry("session_info", createdAt, { name });
    if (provider !== undefined && model !== undefined) yield* this.#changeModel(provider, model, createdAt);
    this.#base = { leaf: this.#leaf, length: 0 };
  }

  *item(item: ResponseItem, timestamp: string): Generator<string> {
    const part = plainPart(item, this.#leave);
    if (part === undefined) return;
    const block = blockOf(part);
    if (block !== undefined) {
      this.#row ??= { timestamp, items: [], blocks: [] };
      this.#row.items.push(item);
      this.#row.blocks.push(block);
      if (part.type === "called") this.#names.set(part.id, part.name);
      return;
    }
    yield* this.#endRow();
    const message = this.#messageOf(part);
    if (message !== undefined) yield this.#message(message, [item], timestamp);
    else this.#leave("developer message");
  }

  *model({ model, provider }: TurnContext, timestamp: string): Generator<string> {
    if (provider === undefined || this.#model === modelKey(provider, model)) return;
    yield* this.#endRow();
    yield* this.#changeModel(provider, model, timestamp);
  }

  *compaction(entry: CompactionEntry): Generator<string> {
    yield* this.#endRow();
    const { summary, kept, details, tokensBefore, tokensAfter, timestamp } = entry;
    const first = kept.find((item) => this.#isShown(item));
    let firstKeptEntryId = this.#tailBegin(entry);
    if (first !== undefined && firstKeptEntryId === undefined) {
      // The kept items are not the end of the history, so they are written again.
      for (const item of kept) yield* this.item(item, timestamp);
      yield* this.#endRow();
      firstKeptEntryId = this.#places.get(first)?.id;
    }
    const text = summary.startsWith(label) ? summary.slice(label.length) : summary;
    yield this.#entry("compaction", timestamp, {
      summary: details === undefined ? text : withoutFileLists(text),
      // If nothing is kept, points to the compaction entry itself.
      firstKeptEntryId: firstKeptEntryId ?? this.#nextId,
      tokensBefore,
      tokensAfter,
      ...(details === undefined ? {} : { details }),
    });
    this.#replaced(entry.after);
  }

  /** Starts a new tree root, because the history was replaced. */
  *restart(history: readonly ResponseItem[], timestamp: string): Generator<string> {
    yield* this.#endRow();
    this.#leaf = null;
    for (const item of history) yield* this.item(item, timestamp);
    yield* this.#endRow();
    this.#replaced(history);
  }

  /** Continues after the remaining items, because turns were rolled back. */
  *goBack(history: readonly ResponseItem[], timestamp: string): Generator<string> {
    yield* this.#endRow();
    if (history.length < this.#base.length) {
      yield* this.restart(history, timestamp);
      return;
    }
    const added = history.slice(this.#base.length).flatMap((item) => this.#places.get(item) ?? []);
    this.#leaf = added.at(-1)?.id ?? this.#base.leaf;
  }

  /** Makes sure that the last entry marks the current position of the conversation. */
  *end(timestamp: string): Generator<string> {
    yield* this.#endRow();
    if (this.#leaf !== this.#written) yield this.#entry("session_info", timestamp, {});
  }

  #replaced(history: readonly ResponseItem[]): void {
    this.#base = { leaf: this.#leaf, length: history.length };
  }

  /**
   * Returns the first kept entry if the kept items are the end of the history. The kept items are copies, so they get
   * the places of the items they repeat: the next compaction may keep them again.
   */
  #tailBegin({ before, kept }: CompactionEntry): string | undefined {
    const copies = kept.filter((item) => this.#isShown(item));
    const written = before.flatMap((item) => {
      const place = this.#places.get(item);
      return place === undefined ? [] : [{ item, place }];
    });
    if (copies.length === 0 || copies.length > written.length) return undefined;
    const tail = written.slice(-copies.length);
    const isTail = tail.every(({ item }, index) => JSON.stringify(item) === JSON.stringify(copies[index]));
    const first = tail[0]?.place;
    if (!isTail || first?.isFirst !== true) return undefined;
    for (const [index, copy] of copies.entries()) {
      const place = tail[index]?.place;
      if (place !== undefined) this.#places.set(copy, place);
    }
    return first.id;
  }

  #isShown(item: ResponseItem): boolean {
    const part = plainPart(item, () => undefined);
    return part !== undefined && !(part.type === "message" && part.role === "system");
  }

  *#changeModel(provider: string, model: string, timestamp: string): Generator<string> {
    this.#model = modelKey(provider, model);
    yield this.#entry("model_change", timestamp, { provider, modelId: model });
  }

  *#endRow(): Generator<string> {
    const row = this.#row;
    this.#row = undefined;
    if (row !== undefined) {
      yield this.#message({ role: "assistant", content: row.blocks }, row.items, row.timestamp);
    }
  }

  #messageOf(part: PlainPart): object | undefined {
    if (part.type === "answered") {
      const toolName = this.#names.get(part.id) ?? "";
      return { role: "tool_result", toolCallId: part.id, toolName, output: part.output, isError: false };
    }
    return part.type === "message" && part.role === "user" ? { role: "user", content: part.text } : undefined;
  }

  #message(message: object, items: readonly ResponseItem[], timestamp: string): string {
    const text = this.#entry("message", timestamp, { message: { ...message, timestamp: Date.parse(timestamp) || 0 } });
    for (const [index, item] of items.entries()) {
      this.#places.set(item, { id: this.#leaf ?? "", isFirst: index === 0 });
    }
    return text;
  }

  get #nextId(): string {
    return (this.#count + 1).toString(16).padStart(idDigits, "0");
  }

  #entry(type: string, timestamp: string, fields: object): string {
    const id = this.#nextId;
    this.#count += 1;
    const text = `${JSON.stringify({ type, id, parentId: this.#leaf, timestamp, ...fields })}\n`;
    this.#leaf = id;
    this.#written = id;
    return text;
  }
}

function modelKey(provider: string, model: string): string {
  return JSON.stringify([provider, model]);
}

/** Returns the block of a part that belongs into the current model message; undefined for other parts. */
function blockOf(part: PlainPart): object | undefined {
  switch (part.type) {
    case "message":
      return part.role === "assistant" ? { type: "text", text: part.text } : undefined;
    case "thought":
      return {
        type: "thinking",
        thinking: part.text,
        ...(part.signature === undefined ? {} : { signature: part.signature }),
      };
    case "called":
      return { type: "tool_call", id: part.id, name: part.name, input: part.input };
    case "answered":
      break;
  }
  return undefined;
}

/** Removes the file lists, because readers of the entry add them from its details. */
function withoutFileLists(summary: string): string {
  return summary.replace(fileLists, "");
}

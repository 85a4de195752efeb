import { isRecord } from "../../../base/is-record.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { LineObject } from "../../file/lines.js";
import { isoTime } from "../lines/detect-format.js";
import {
  type ConvertedItems,
  unknownItems,
  messageItem,
  callOutputItem,
  callItem,
  partItems,
  reasoningItem,
  itemLine,
  type ConvertedLines,
} from "../lines/converted-items.js";

const newestVersion = 2;

/** Reads a tree of entries one by one; at the start of a branch the history is reset to its state there. */
export class EntryReader {
  readonly #tree = new EntryTree();
  #cwd = "/";

  linesOf(entry: LineObject): ConvertedLines {
    const timestamp = isoTime(entry["timestamp"]);
    if (entry.type === "session") return { lines: [], whole: this.#begin(entry) };
    const parent = typeof entry["parentId"] === "string" ? entry["parentId"] : null;
    const continues = this.#tree.follows(parent);
    const found = this.#itemsOf(entry, parent);
    const replaces = entry.type === "compaction" && found.whole;
    this.#tree.add(String(entry["id"]), { parent, items: found.items, replaces });
    const items = replaces || continues ? found.items : [...this.#tree.itemsUpTo(parent), ...found.items];
    const lines =
      replaces || !continues ? [replacedLine(timestamp, items)] : items.map((item) => itemLine(timestamp, item));
    return { lines: [...lines, ...this.#modelLines(entry, timestamp)], whole: found.whole };
  }

  #begin({ cwd, version }: LineObject): boolean {
    if (typeof cwd === "string") this.#cwd = cwd;
    return version === undefined || (typeof version === "number" && version <= newestVersion);
  }

  #itemsOf(entry: LineObject, parent: string | null): ConvertedItems {
    const { type, message } = entry;
    if (type === "message") return isRecord(message) ? entryItems(message) : unknownItems;
    if (type !== "compaction") return { items: [], whole: true };
    const { summary, firstKeptEntryId } = entry;
    if (typeof summary !== "string") return unknownItems;
    const kept = typeof firstKeptEntryId === "string" ? this.#tree.itemsUpTo(parent, firstKeptEntryId) : [];
    return { items: [messageItem("user", `[Session Summary]\n${summary}${filesText(entry)}`), ...kept], whole: true };
  }

  #modelLines({ type, provider, modelId }: LineObject, timestamp: string): OwnLine[] {
    if (type !== "model_change" || typeof provider !== "string" || typeof modelId !== "string") return [];
    // The format does not record any policies.
    const policies = { approval_policy: null, sandbox_policy: { type: "unknown" } };
    const payload = { cwd: this.#cwd, ...policies, model: modelId, summary: "auto", provider };
    return [{ timestamp, type: "turn_context", payload }];
  }
}

function replacedLine(timestamp: string, items: readonly ResponseItem[]): OwnLine {
  return { timestamp, type: "cody", payload: { type: "history_replaced", items: [...items] } };
}

type Value = Readonly<Record<string, unknown>>;

/** Converts the message of an entry. */
function entryItems(message: Value): ConvertedItems {
  const { role, content, toolCallId, output } = message;
  if (role === "user") return partItems("user", content, () => undefined);
  if (role === "assistant") return partItems("assistant", content, blockItem);
  if (role !== "tool_result" || typeof toolCallId !== "string") return unknownItems;
  return { items: [callOutputItem(toolCallId, output)], whole: true };
}

function blockItem({ type, id, name, input, thinking, signature }: Value): ResponseItem | undefined {
  if (type === "thinking" && typeof thinking === "string") return reasoningItem(thinking, signature);
  if (type !== "tool_call" || typeof id !== "string" || typeof name !== "string") return undefined;
  return callItem(id, name, input);
}

interface Entry {
  readonly parent: string | null;
  readonly items: readonly ResponseItem[];
  /** Whether the entry replaces everything before it. */
  readonly replaces: boolean;
}

/** A tree of entries that name their parents. The path to the last entry is the conversation. */
class EntryTree {
  readonly #entries = new Map<string, Entry>();
  #leaf: string | null = null;

  /** Whether an entry with this parent continues the last one. */
  follows(parent: string | null): boolean {
    return parent === this.#leaf;
  }

  add(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    this.#leaf = id;
  }

  /**
   * Returns the items on the path up to an entry, optionally starting at `from`; empty when `from` is not on the
   * path. Only the last compaction counts, so compactions among the entries it keeps contribute nothing.
   */
  itemsUpTo(id: string | null, from?: string): ResponseItem[] {
    const path: (readonly ResponseItem[])[] = [];
    const seen = new Set<string>();
    for (let at = id; at !== null && !seen.has(at);) {
      const entry = this.#entries.get(at);
      if (entry === undefined) break;
      seen.add(at);
      if (from === undefined || !entry.replaces) path.push(entry.items);
      if (at === from) break;
      at = entry.replaces && from === undefined ? null : entry.parent;
    }
    return from !== undefined && !seen.has(from) ? [] : path.toReversed().flat();
  }
}

/** Returns the file lists to append to the summary, unless it contains them already. */
export function filesText({ summary, details }: LineObject): string {
  if (!isRecord(details) || /^(?:## Files (?:Read|Modified)|<(?:read|modified)-files>)$/m.test(String(summary)))
    return "";
  return listText("Files Read", details["readFiles"]) + listText("Files Modified", details["modifiedFiles"]);
}

function listText(title: string, files: unknown): string {
  const names = Array.isArray(files) ? files.filter((file) => typeof file === "string") : [];
  return names.length === 0 ? "" : `\n\n## ${title}\n${names.map((name) => `- ${name}`).join("\n")}`;
}

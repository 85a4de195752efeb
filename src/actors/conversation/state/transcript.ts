import type { EventMsg } from "../../../messages/event.js";
import { messageText, type ResponseItem, webSearchQuery } from "../../../messages/response-item.js";
import type { Compacted, RolloutLine } from "../../../messages/rollout-line.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
type ShownMsg = Extract<
  EventMsg,
  { type: "user_message" | "agent_message" | "agent_reasoning" | "web_search_end" | "warning" }
>;

/** Maximum number of characters shown; the newest messages are kept. */
const maxShownChars = 2 * 1024 * 1024;

/**
 * The messages that the user has seen in a conversation, built from the lines of its rollout. A compaction removes none
 * of them, and its summary is not one of them.
 */
export class Transcript {
  #messages: ShownMsg[] = [];
  #chars = 0;
  #isCut = false;

  add(line: RolloutLine): void {
    if (line.type === "response_item") this.#show([line.payload]);
    else if (line.type === "compacted") this.#hideSummary(line.payload);
    else if (line.type === "event_msg" && line.payload.type === "thread_rolled_back") {
      this.#takeBack(line.payload.num_turns);
    } else if (line.type === "cody" && line.payload.type === "history_replaced") {
      this.#messages = [];
      this.#chars = 0;
      this.#show(line.payload.items);
    }
  }

  /** Marks that earlier lines were not read. */
  leaveOut(): void {
    this.#isCut = true;
  }

  messages(): ShownMsg[] {
    this.#cut(maxShownChars);
    return this.#isCut ? [{ type: "warning", message: cutNotice }, ...this.#messages] : this.#messages;
  }

  #show(items: readonly ResponseItem[]): void {
    for (const item of items) {
      for (const msg of shownOf(item)) {
        this.#messages.push(msg);
        this.#chars += charsOf(msg);
      }
    }
    // Not for each message, because removing the first elements copies the list.
    if (this.#chars > 2 * maxShownChars) this.#cut(maxShownChars);
  }

  #cut(chars: number): void {
    let from = 0;
    while (this.#chars > chars && from < this.#messages.length - 1) {
      this.#chars -= charsOf(this.#messages[from]);
      from += 1;
    }
    if (from === 0) return;
    this.#isCut = true;
    this.#messages = this.#messages.slice(from);
  }

  /** Newer versions of Codex also write the summary as a model answer, directly before the compaction line. */
  #hideSummary({ message }: Compacted): void {
    const last = this.#messages.at(-1);
    if (last?.type === "agent_message" && last.message !== "" && message.endsWith(last.message)) this.#dropLast();
  }

  #takeBack(turns: number): void {
    let left = Math.min(turns, this.#messages.filter(({ type }) => type === "user_message").length);
    while (left > 0) {
      if (this.#messages.at(-1)?.type === "user_message") left -= 1;
      this.#dropLast();
    }
  }

  #dropLast(): void {
    this.#chars -= charsOf(this.#messages.pop());
  }
}

const cutNotice = "Earlier messages are not shown. The file of the conversation has all of them.";

function shownOf(item: ResponseItem): ShownMsg[] {
  switch (item.type) {
    case "message":
      if (item.summary === true) return [];
      if (item.role === "assistant") return [{ type: "agent_message", message: messageText(item) }];
      return isRealUserMessage(item) ? [{ type: "user_message", message: messageText(item) }] : [];
    case "reasoning":
      return item.summary.map(({ text }) => ({ type: "agent_reasoning", text }));
    case "web_search_call": {
      const { id, action } = item;
      const query = webSearchQuery(action);
      return [{ type: "web_search_end", call_id: id ?? "", query, ...(action ? { action } : {}) }];
    }
    default:
      return [];
  }
}

function charsOf(msg: ShownMsg | undefined): number {
  if (msg === undefined) return 0;
  if (msg.type === "agent_reasoning") return msg.text.length;
  return msg.type === "web_search_end" ? msg.query.length : msg.message.length;
}

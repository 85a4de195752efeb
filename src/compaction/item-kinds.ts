import { isRealUserMessage, contextKind } from "../base/codex/context-message.js";
import {
  type MessageItem,
  type ResponseItem,
  isFlagged,
  isOutput,
  messageText,
  codexItems,
  type PlainItem,
} from "../messages/response-item.js";

/** Context messages that describe events of a turn and are therefore dropped together with it. */
const ofTurns = /<user_shell_command>|<turn_aborted>|<subagent_notification>|<hook_prompt|warning: /;

/**
 * Whether the item is a non-empty user request. Summaries and pins are not: a summary repeats requests, and pins are
 * kept separately.
 */
export function isRequest(item: ResponseItem): item is MessageItem & { role: "user" } {
  return (
    isRealUserMessage(item) && !isFlagged(item) && item.content.some((part) => !("text" in part) || part.text !== "")
  );
}

/**
 * Whether the model produced the item: an assistant message, reasoning, a call, or any other item that is neither an
 * output nor a message of another role.
 */
export function isFromModel(item: ResponseItem): boolean {
  if (item.type === "ghost_snapshot" || isOutput(item) || isFlagged(item)) return false;
  return item.type !== "message" || item.role === "assistant";
}

/** Returns the context messages injected beside the conversation: the newest of each kind, in order. */
export function initialContext(history: readonly ResponseItem[]): ResponseItem[] {
  const places = contextIndexes(history);
  return history.filter((_, place) => places.has(place));
}

export function contextIndexes(history: readonly ResponseItem[]): Set<number> {
  const newest = new Map<string, number>();
  for (const [place, item] of history.entries()) {
    const key = contextKey(item);
    if (key !== undefined) newest.set(key, place);
  }
  return new Set(newest.values());
}

/**
 * Returns a key shared by context messages that replace one another, or undefined for items that are no lasting
 * context.
 */
export function contextKey(item: ResponseItem): string | undefined {
  if (item.type !== "message" || isFlagged(item)) return undefined;
  if (item.role === "developer" || item.role === "system") return `${item.role} ${messageText(item)}`;
  const kind = contextKind(item);
  return kind === undefined || ofTurns.test(kind) ? undefined : kind;
}

/** Collects the texts the user typed. Injected context, summaries, pins, images and empty messages are left out. */
export function collectUserMessages(history: readonly (ResponseItem | PlainItem)[]): string[] {
  return codexItems(history)
    .flatMap((item) => (isRequest(item) ? [messageText(item)] : []))
    .filter((text) => text !== "");
}

import { messageText, type ResponseItem, isFlagged } from "../messages/response-item.js";
import { contextKind } from "../base/codex/context-message.js";
/** Context messages that describe events of a turn and are therefore dropped together with it. */
const ofTurns = /<user_shell_command>|<turn_aborted>|<subagent_notification>|<hook_prompt|warning: /;

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

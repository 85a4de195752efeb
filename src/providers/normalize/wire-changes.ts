import type { WireApi } from "../../messages/config.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { normalizeHistory } from "./normalized.js";

/** How normalization changes the items of one type. */
export interface TypeChanges {
  readonly type: string;
  /** Sent unchanged. */
  readonly same: number;
  readonly changed: number;
  readonly leftOut: number;
  /** Created for the API, such as the output of a call that has none. */
  readonly added: number;
}

export interface WireChanges {
  readonly api: WireApi;
  readonly sent: number;
  /** By type, in the order of the history. */
  readonly types: readonly TypeChanges[];
}

/**
 * Reports which items of a history would be sent, and how they would change. Unchanged items are recognized by object
 * identity.
 */
export function wireChanges(api: WireApi, items: readonly ResponseItem[], model: string): WireChanges {
  const sent = normalizeHistory(api, items, model);
  const had = new Set<unknown>(items);
  const kept = new Set<unknown>(sent);
  const types = [...new Set([...items, ...sent].map(({ type }) => type))];
  return { api, sent: sent.length, types: types.map(changesOf) };

  function changesOf(type: string): TypeChanges {
    const before = items.filter((item) => item.type === type);
    const same = before.filter((item) => kept.has(item)).length;
    const fresh = sent.filter((item) => item.type === type && !had.has(item)).length;
    const changed = Math.min(before.length - same, fresh);
    return { type, same, changed, leftOut: before.length - same - changed, added: fresh - changed };
  }
}

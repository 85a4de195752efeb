import { type ResponseItem, codexItems, type PlainItem } from "../../messages/response-item.js";
import { AUTO_COMPACT_TOKEN_LIMIT, COMPACT_THRESHOLD } from "../constants.js";
import { estimateItemTokens, estimateTokens } from "./estimate-tokens.js";

export interface TriggerInput {
  readonly window: number;
  /** Whether the window is a default, because the model's own is unknown. */
  readonly assumed: boolean;
  readonly settings: {
    readonly ratio: number;
    readonly tokenLimit?: number | undefined;
    readonly reserveTokens?: number | undefined;
  };
}

/** Returns the token count above which a history is compacted: the smallest of all configured limits. */
export function limitOf({ window, assumed, settings }: TriggerInput): number {
  const { ratio, tokenLimit = Infinity, reserveTokens = 0 } = settings;
  const unreserved = window - Math.min(reserveTokens, Math.floor(window / 2));
  return Math.min(Math.floor(window * ratio), tokenLimit, unreserved, assumed ? AUTO_COMPACT_TOKEN_LIMIT : Infinity);
}

/** Whether a history exceeds `COMPACT_THRESHOLD` of the model's context window. */
export function needsCompaction(
  history: readonly (ResponseItem | PlainItem)[],
  contextWindow: number,
  countTokens: (text: string) => number = estimateTokens,
): boolean {
  return estimateItemTokens(codexItems(history), countTokens) > Math.floor(contextWindow * COMPACT_THRESHOLD);
}

/** Whether less than the reserve is left of the model's context window. */
export function shouldCompact(tokens: number, contextWindow: number, reserveTokens: number): boolean {
  return tokens > contextWindow - reserveTokens;
}

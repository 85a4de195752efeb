import { AUTO_COMPACT_TOKEN_LIMIT } from "../constants.js";

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

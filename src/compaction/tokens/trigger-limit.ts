import { AUTO_COMPACT_TOKEN_LIMIT } from "../constants.js";

export interface TriggerInput {
  readonly window: number;
  /** Whether nobody knows the window and a usual one was taken for it. */
  readonly assumed: boolean;
  readonly settings: {
    readonly ratio: number;
    readonly tokenLimit?: number | undefined;
    readonly reserveTokens?: number | undefined;
  };
}

/** A history with more tokens than this is compacted; of all that is configured, the smallest counts. */
export function limitOf({ window, assumed, settings }: TriggerInput): number {
  const { ratio, tokenLimit = Infinity, reserveTokens = 0 } = settings;
  const unreserved = window - Math.min(reserveTokens, Math.floor(window / 2));
  return Math.min(Math.floor(window * ratio), tokenLimit, unreserved, assumed ? AUTO_COMPACT_TOKEN_LIMIT : Infinity);
}

/** The part of the window that must be passed before a history is compacted. */
export const COMPACT_THRESHOLD = 0.8;

/** The part of the window that a compacted history shall not pass. */
export const COMPACT_TARGET = 0.7;

/** What outlives a compaction of the user's own words. */
export const COMPACT_USER_MESSAGE_MAX_TOKENS = 20_000;

/** What must stay free of the window for the next answer, where that is the trigger. */
export const RESERVE_TOKENS = 16_384;

/** What `recent-tokens` keeps as it is. */
export const KEEP_RECENT_TOKENS = 20_000;

/** What `recent-turns` keeps as it is. */
export const KEEP_TURNS = 5;

/** Where a history is compacted when nobody knows the model's window. */
export const AUTO_COMPACT_TOKEN_LIMIT = 100_000;

/** The longest summary a model may write. */
export const MAX_SUMMARY_TOKENS = 4_096;

/** A text that was cut in the middle has at least so much left: less tells nothing and is mostly marker. */
export const MIN_CUT_TOKENS = 64;

/**
 * Fraction of the context window above which `needsCompaction` returns true. Conversations use the setting
 * `compaction.ratio`, whose default is the same.
 */
export const COMPACT_THRESHOLD = 0.8;

/** Fraction of the context window that a compacted history must not exceed. */
export const COMPACT_TARGET = 0.7;

/** Token budget for the user messages that survive a compaction verbatim. */
export const COMPACT_USER_MESSAGE_MAX_TOKENS = 20_000;

/** Tokens that must stay free for the next answer, where the trigger is defined by a reserve. */
export const RESERVE_TOKENS = 16_384;

/** Default number of recent tokens that `recent-tokens` keeps verbatim. */
export const KEEP_RECENT_TOKENS = 20_000;

/** Default number of recent turns that `recent-turns` keeps verbatim. */
export const KEEP_TURNS = 5;

/** Compaction trigger for models with an unknown context window. */
export const AUTO_COMPACT_TOKEN_LIMIT = 100_000;

/** Maximum length of a summary written by a model. */
export const MAX_SUMMARY_TOKENS = 4_096;

/** Texts cut in the middle keep at least this many tokens: anything shorter is mostly marker. */
export const MIN_CUT_TOKENS = 64;

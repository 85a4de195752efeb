/** The same as in Codex: a model that is thinking may be silent for minutes. */
export const defaultIdleMs = 300_000;
export const maxEventBytes = 8 * 1024 * 1024;
/** The maximum size of an error response. */
export const maxErrorBytes = 64 * 1024;
/** Counted for each item besides its text, because even a short item costs rollout lines and events. */
export const itemOverheadBytes = 512;

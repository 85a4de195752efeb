/** As Codex: a model that thinks may say nothing for minutes. */
export const defaultIdleMs = 300_000;
export const maxEventBytes = 8 * 1024 * 1024;
/** Of what a server says about an error. */
export const maxErrorBytes = 64 * 1024;
/** What an item counts besides its text: it costs lines in the rollout and events, however short it is. */
export const itemOverheadBytes = 512;

import type * as Cody from "../../src/index.js";

const root = /^(.*)\/build\//.exec(import.meta.url)?.[1] ?? ".";

/** Imported from the built package, because code bundled into a benchmark does not find its thread entries. */
export const { ConversationManager } = (await import(`${root}/dist/index.js`)) as typeof Cody;
export type ConversationManager = Cody.ConversationManager;

import type * as Cody from "../../src/index.js";

const root = /^(.*)\/build\//.exec(import.meta.url)?.[1] ?? ".";

/** From the built package: what is bundled into a benchmark does not find its threads. */
export const { ConversationManager } = (await import(`${root}/dist/index.js`)) as typeof Cody;
export type ConversationManager = Cody.ConversationManager;

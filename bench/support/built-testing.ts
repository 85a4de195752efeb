import type * as Testing from "../../src/public/testing.js";

const root = /^(.*)\/build\//.exec(import.meta.url)?.[1] ?? ".";

/** The mock server of the built package. */
export const { startMockLlm } = (await import(`${root}/dist/testing.js`)) as typeof Testing;

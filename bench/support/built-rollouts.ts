import type * as Rollouts from "../../src/public/rollouts.js";

const root = /^(.*)\/build\//.exec(import.meta.url)?.[1] ?? ".";

/** The functions for rollouts of the built package. */
export const { listRollouts } = (await import(`${root}/dist/rollouts.js`)) as typeof Rollouts;

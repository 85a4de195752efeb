import type { Actor } from "../../src/actors/runtime/actor.js";

export type EchoOp =
  { readonly type: "echo"; readonly value: number } | { readonly type: "note"; readonly value: number };

export interface EchoAnswers {
  readonly echo: number;
}

/** An actor that returns the value it is asked with. */
export const echo: Actor<EchoOp, EchoAnswers, null> = {
  name: "echo",
  start: () => ({ echo: ({ value }) => value, note: () => undefined }),
};

import type { Answers, Message, Ref } from "../../src/actors/runtime/actor.js";

/** A reference that copies every message as a port between two threads does; it fails for a message that is not data. */
export function copyingRef<Op extends Message, A extends Answers<Op>>(ref: Ref<Op, A>): Ref<Op, A> {
  return {
    tell: (op) => ref.tell(structuredClone(op)),
    ask: async (op, signal) => structuredClone(await ref.ask(structuredClone(op), signal)),
    stop: () => ref.stop(),
  };
}

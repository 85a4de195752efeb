import { deserialize, serialize } from "node:v8";
import { FailureError } from "../messages/failure-error.js";

const maxReasonChars = 200;

/**
 * Serializes a value. Done here and not by the port, so that the size is known before anything is sent, and a value
 * that cannot be cloned, or is too deep to be read by the receiver, fails where it can be caught. A port would lose the
 * message or the thread.
 */
export function pack(value: unknown): Uint8Array<ArrayBuffer> {
  return orBadMessage("cannot be sent", () => serialize(value));
}

export function unpack(bytes: Uint8Array): unknown {
  return orBadMessage("cannot be read", (): unknown => deserialize(bytes));
}

function orBadMessage<Value>(what: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, maxReasonChars);
    const message = `a value ${what} between threads: ${reason}`;
    throw new FailureError({ code: "bad_message", message, retryable: false }, { cause: error });
  }
}

import type { FailureCode } from "../../messages/failure.js";

/** How many inputs may wait while a turn runs. */
export const maxQueuedInputs = 32;

const megabyte = 1_000_000;

/** Why nothing new can be begun; the code says whether it is of use to try again. */
export interface Refusal {
  readonly code: FailureCode;
  readonly reason: string;
}

export const isEnding: Refusal = { code: "actor_stopped", reason: "the conversation is shutting down" };

export const isFull: Refusal = {
  code: "not_saved",
  reason: "not saved: too much is waiting to be written; try again later",
};

export const tooMany: Refusal = {
  code: "busy",
  reason: `too many queued inputs: at most ${maxQueuedInputs} wait while a turn runs`,
};

export function tooLong(maxBytes: number): Refusal {
  const limit = `its file is longer than ${maxBytes / megabyte} MB (persistence.maxFileMegabytes)`;
  return { code: "limit_reached", reason: `${limit}; raise the limit, or go on in a new conversation` };
}

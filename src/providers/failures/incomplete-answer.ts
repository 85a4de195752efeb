import type { Failure } from "../../messages/failure.js";

export const incompleteAnswer: Failure = {
  code: "network",
  message: "the answer ended before it was complete",
  retryable: true,
};

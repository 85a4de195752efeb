import {
  CodexLockError,
  ConversationInUseError,
  ConversationNotFoundError,
  CorruptedRolloutError,
  EmptyRolloutError,
  InvalidInputError,
} from "../../base/errors.js";
import { errorMessage } from "../../base/error-message.js";
import type { ErrorData } from "../../messages/actors/shard.js";
import { FailureError } from "../../messages/failure-error.js";

/** Describes an error as data, because errors lose their class and fields between threads. */
export function errorData(error: unknown): ErrorData {
  if (error instanceof FailureError) return { name: "FailureError", failure: error.failure };
  if (error instanceof InvalidInputError) return { name: "InvalidInputError", message: error.message };
  if (error instanceof ConversationNotFoundError || error instanceof EmptyRolloutError) {
    return { name: error.name, conversationId: error.conversationId };
  }
  if (error instanceof CorruptedRolloutError) {
    const { name, conversationId, line, detail } = error;
    return { name, conversationId, line, detail };
  }
  if (error instanceof ConversationInUseError) {
    const { name, conversationId, owner } = error;
    return { name, conversationId, owner };
  }
  if (error instanceof CodexLockError) {
    const { name, conversationId, reason } = error;
    return { name, conversationId, reason };
  }
  return { name: "Error", message: errorMessage(error) };
}

export function errorFrom(data: ErrorData): Error {
  switch (data.name) {
    case "FailureError":
      return new FailureError(data.failure);
    case "InvalidInputError":
      return new InvalidInputError(data.message);
    case "ConversationNotFoundError":
      return new ConversationNotFoundError(data.conversationId);
    case "EmptyRolloutError":
      return new EmptyRolloutError(data.conversationId);
    case "CorruptedRolloutError":
      return new CorruptedRolloutError(data.conversationId, data.line, data.detail);
    case "ConversationInUseError":
      return new ConversationInUseError(data.conversationId, data.owner);
    case "CodexLockError":
      return new CodexLockError(data.conversationId, data.reason);
    case "Error":
      break;
  }
  return new Error(data.message);
}

import type { Failure } from "../messages/failure.js";
import type { ModelRequest } from "../messages/model.js";

const reasoningError =
  /encrypted content|reasoning'? (?:input )?items?\b|\bitem (?:with id )?'rs_|`(?:redacted_)?thinking`/i;

/**
 * Whether a server rejects the reasoning items of its own model, because the account, the server behind the name, or
 * the encryption key has changed. Unless the reasoning is left out, it would reject every further request of the
 * conversation.
 */
export function rejectsReasoning({ code, message }: Failure, { input }: ModelRequest): boolean {
  return code === "invalid_request" && reasoningError.test(message) && input.some(isReasoning);
}

export function withoutReasoning(request: ModelRequest): ModelRequest {
  return { ...request, input: request.input.filter((item) => !isReasoning(item)) };
}

function isReasoning({ type }: ModelRequest["input"][number]): boolean {
  return type === "reasoning";
}

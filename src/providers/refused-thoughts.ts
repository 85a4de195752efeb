import type { Failure } from "../messages/failure.js";
import type { ModelRequest } from "../messages/model.js";

const aboutThoughts =
  /encrypted content|reasoning'? (?:input )?items?\b|\bitem (?:with id )?'rs_|`(?:redacted_)?thinking`/i;

/**
 * Whether a server does not take back what its model has thought: another account, another server behind the same
 * name, or a key that has expired. It would refuse the conversation for ever.
 */
export function refusesThoughts({ code, message }: Failure, { input }: ModelRequest): boolean {
  return code === "invalid_request" && aboutThoughts.test(message) && input.some(isThought);
}

export function withoutThoughts(request: ModelRequest): ModelRequest {
  return { ...request, input: request.input.filter((item) => !isThought(item)) };
}

function isThought({ type }: ModelRequest["input"][number]): boolean {
  return type === "reasoning";
}

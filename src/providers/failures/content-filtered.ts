import type { ModelEvent } from "../../messages/model.js";
import type { FailureContext } from "./wire-failure.js";

/**
 * The final event of an answer that a content filter stopped. Not retryable, because the filter would stop it again.
 */
export function contentFiltered({ provider }: FailureContext): ModelEvent {
  const message = `${provider}: the answer was stopped by a content filter`;
  return { type: "failed", failure: { code: "content_filtered", message, retryable: false } };
}

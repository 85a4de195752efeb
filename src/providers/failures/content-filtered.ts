import type { ModelEvent } from "../../messages/model.js";
import type { FailureContext } from "./wire-failure.js";

/** The end of an answer that somebody who watches over the model has stopped: asked again, it would be again. */
export function contentFiltered({ provider }: FailureContext): ModelEvent {
  const message = `${provider}: the answer was stopped by a content filter`;
  return { type: "failed", failure: { code: "content_filtered", message, retryable: false } };
}

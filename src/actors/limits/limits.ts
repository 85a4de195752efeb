import type { RequestLimits } from "../../messages/config.js";
import type { Actor } from "../runtime/actor.js";
import { RequestQueue, type RequestQueueParts } from "./request-queue.js";

export interface LimitsOptions extends Pick<RequestQueueParts, "now" | "later"> {
  /** The configured request limits, by provider. */
  readonly limits: Readonly<Record<string, RequestLimits>>;
}

export type LimitsOp =
  /** Answered when the request may be sent. */
  | {
      readonly type: "enter";
      readonly provider: string;
      readonly id: string;
      readonly conversationId: string;
      readonly tokens: number;
    }
  /** Sent for every request that asked to enter, including one that was never admitted. */
  | { readonly type: "leave"; readonly provider: string; readonly id: string; readonly tokens: number | undefined }
  | { readonly type: "hold"; readonly provider: string; readonly ms: number };

/** Keeps the requests of all conversations within the limits of their providers. */
export const limits: Actor<LimitsOp, Record<never, never>, LimitsOptions> = {
  name: "limits",
  start: ({ limits: configured, now, later }) => {
    const lines = new Map<string, RequestQueue>();

    function lineOf(provider: string): RequestQueue {
      const known = lines.get(provider) ?? new RequestQueue({ limits: configured[provider] ?? {}, now, later });
      lines.set(provider, known);
      return known;
    }

    return {
      enter: ({ provider, ...waiting }) =>
        new Promise((resolve) => lineOf(provider).add({ ...waiting, enter: () => resolve() })),
      leave: ({ provider, id, tokens }) => lineOf(provider).leave(id, tokens),
      hold: ({ provider, ms }) => lineOf(provider).hold(ms),
      [Symbol.asyncDispose]: async () => {
        for (const line of lines.values()) line.close();
      },
    };
  },
};

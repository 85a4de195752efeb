import * as z from "zod";

const provider = z.string();
/** The thread that sends the request. All of a client's requests leave together when its thread dies. */
const client = z.string();

/** Every message that the limits actor accepts. */
export const LimitsOp = z.discriminatedUnion("type", [
  /** Answered when the request may be sent. */
  z.object({
    type: z.literal("enter"),
    provider,
    client,
    /** Unique among the requests of all clients. */
    id: z.string(),
    conversationId: z.string(),
    /** The estimated number of tokens that the request will use. */
    tokens: z.number().nonnegative(),
  }),
  /** Sent for every request that asked to enter, including one that was never admitted. */
  z.object({
    type: z.literal("leave"),
    provider,
    id: z.string(),
    /** The tokens that were really used, where known. */
    tokens: z.number().nonnegative().optional(),
  }),
  /** A server has asked for a pause: no request is sent to its provider for so long. */
  z.object({ type: z.literal("hold"), provider, ms: z.number().positive() }),
  /** The client's thread has died and will not send `leave`. */
  z.object({ type: z.literal("client_gone"), client }),
]);
export type LimitsOp = z.infer<typeof LimitsOp>;

/** No op has an answer other than its end. */
export const LimitsAnswers = z.object({});
export type LimitsAnswers = Record<never, never>;

export const LimitsEvent = z.discriminatedUnion("type", [
  /** From now on, requests to this provider have to enter, because its server has asked for a pause. */
  z.object({ type: z.literal("limited"), provider }),
]);
export type LimitsEvent = z.infer<typeof LimitsEvent>;

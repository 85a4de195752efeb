import * as z from "zod";

/** The process that holds a rollout's lock, with enough data for others to find out whether it is alive. */
export const LockOwner = z.object({
  /** Random, unique for each manager that writes. */
  token: z.string().regex(/^[0-9a-f]{32}$/),
  pid: z.number().int(),
  /** The start time of the process, which tells it from a later one with the same pid; empty if unknown. */
  startTime: z.string(),
  /** The machine's id and name; empty if the machine has no id. */
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  /** A unix socket that the owner listens on while it is alive. */
  socket: z.string(),
});
export type LockOwner = z.infer<typeof LockOwner>;

const conversationId = z.string();

/** Messages to the rollout writer. Lines are already encoded, because the queue must know their size. */
export const RolloutWriterOp = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("open"),
    conversationId,
    path: z.string(),
    owner: LockOwner,
    /** `create` fails if the file exists, `append` if it does not. */
    mode: z.enum(["create", "append"]),
    /**
     * After a thread crash: the number of acknowledged bytes. Lines that are sent again are compared with the bytes
     * after that position, and lines already in the file are skipped.
     */
    acknowledgedBytes: z.number().int().nonnegative().optional(),
    /** Takes over the rollout although its owner cannot be proved dead. */
    force: z.boolean().optional(),
  }),
  /** Writes at once. With `sync` the lines are also synced at once, otherwise at the writer's next sync. */
  z.object({ type: z.literal("append"), conversationId, lines: z.array(z.string()), sync: z.boolean() }),
  z.object({ type: z.literal("flush"), conversationId }),
  z.object({ type: z.literal("close"), conversationId }),
]);
export type RolloutWriterOp = z.infer<typeof RolloutWriterOp>;

export const OpenOutcome = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("open"),
    bytes: z.number().int(),
    /** An incomplete last line, which was cut off and stored beside the file. */
    torn: z.object({ bytes: z.number().int(), keptAs: z.string() }).optional(),
  }),
  z.object({ status: z.literal("in_use"), owner: z.string() }),
  /** The file cannot be opened now; lines are buffered and opening is retried. */
  z.object({ status: z.literal("not_saved"), reason: z.string() }),
]);
export type OpenOutcome = z.infer<typeof OpenOutcome>;

/** `saved` means written and fdatasync'ed. */
export const SaveOutcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("saved") }),
  z.object({ status: z.literal("not_saved"), reason: z.string() }),
  /** Saving is disabled for this conversation. */
  z.object({ status: z.literal("off") }),
]);
export type SaveOutcome = z.infer<typeof SaveOutcome>;

/** The answer to each op; `append` has none. */
export const RolloutWriterAnswers = z.object({ open: OpenOutcome, flush: SaveOutcome, close: SaveOutcome });
export type RolloutWriterAnswers = z.infer<typeof RolloutWriterAnswers>;
export type RolloutWriterAnswer = RolloutWriterAnswers[keyof RolloutWriterAnswers];

/** Events the rollout writer publishes on its own. */
export const RolloutWriterEvent = z.discriminatedUnion("type", [
  /** `lines` more lines are durable, and the file ends at `bytes`. */
  z.object({ type: z.literal("saved"), conversationId, lines: z.number().int(), bytes: z.number().int() }),
  z.object({ type: z.literal("not_saved"), conversationId, reason: z.string() }),
]);
export type RolloutWriterEvent = z.infer<typeof RolloutWriterEvent>;

const submissionId = z.number().int().nonnegative();

/** An op on its way to the writer. A client's ids grow by one, and its ops are handled in their order. */
export const RolloutWriterSubmission = z.object({ id: submissionId, op: RolloutWriterOp });
export type RolloutWriterSubmission = z.infer<typeof RolloutWriterSubmission>;

/** A message from the writer to one client: the answer to the submission with this id, or an event. */
export const RolloutWriterReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answer"), id: submissionId, answer: z.union([OpenOutcome, SaveOutcome]) }),
  z.object({ type: z.literal("event"), event: RolloutWriterEvent }),
]);
export type RolloutWriterReport = z.infer<typeof RolloutWriterReport>;

import * as z from "zod";

/** Who holds a rollout: enough for another process to find out whether the holder still lives. */
export const LockOwner = z.object({
  /** Random, one for each writing manager. */
  token: z.string().regex(/^[0-9a-f]{32}$/),
  pid: z.number().int(),
  /** When the process was started, so that a later one with its pid is not taken for it; empty if unknown. */
  startTime: z.string(),
  /** The machine and its name; empty where the machine has no id of its own. */
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  /** A unix socket the owner listens on for as long as it lives. */
  socket: z.string(),
});
export type LockOwner = z.infer<typeof LockOwner>;

const conversationId = z.string();

/** What the RolloutWriter understands. Lines come encoded: their size must be known where they wait. */
export const RolloutCommand = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("open"),
    conversationId,
    path: z.string(),
    owner: LockOwner,
    /** `create` refuses a file that exists, `append` one that does not. */
    mode: z.enum(["create", "append"]),
    /**
     * After a thread crash: how many bytes were acknowledged. The lines sent again are compared with what stands
     * behind them, and those already there are skipped.
     */
    acknowledgedBytes: z.number().int().nonnegative().optional(),
    /** Take the rollout although its owner cannot be proved dead. */
    force: z.boolean().optional(),
  }),
  /** Written at once; with `sync` also made durable at once, otherwise when the writer comes to it. */
  z.object({ type: z.literal("append"), conversationId, lines: z.array(z.string()), sync: z.boolean() }),
  z.object({ type: z.literal("flush"), conversationId }),
  z.object({ type: z.literal("close"), conversationId }),
]);
export type RolloutCommand = z.infer<typeof RolloutCommand>;

export const OpenOutcome = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("open"),
    bytes: z.number().int(),
    /** A torn last line that was cut off and kept beside the file. */
    torn: z.object({ bytes: z.number().int(), keptAs: z.string() }).optional(),
  }),
  z.object({ status: z.literal("in_use"), owner: z.string() }),
  /** The file cannot be opened now; lines are kept and it is tried again. */
  z.object({ status: z.literal("not_saved"), reason: z.string() }),
]);
export type OpenOutcome = z.infer<typeof OpenOutcome>;

/** `saved` means written and fdatasync'ed. */
export const SaveOutcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("saved") }),
  z.object({ status: z.literal("not_saved"), reason: z.string() }),
  /** Nothing is saved because nobody wants it. */
  z.object({ status: z.literal("off") }),
]);
export type SaveOutcome = z.infer<typeof SaveOutcome>;

export interface RolloutAnswers {
  readonly open: OpenOutcome;
  readonly flush: SaveOutcome;
  readonly close: SaveOutcome;
}

/** What the RolloutWriter says unasked. */
export const RolloutEvent = z.discriminatedUnion("type", [
  /** `lines` more lines are durable, and the file ends at `bytes`. */
  z.object({ type: z.literal("saved"), conversationId, lines: z.number().int(), bytes: z.number().int() }),
  z.object({ type: z.literal("not_saved"), conversationId, reason: z.string() }),
]);
export type RolloutEvent = z.infer<typeof RolloutEvent>;

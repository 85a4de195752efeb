import * as z from "zod";
import { ConversationMsg, ConversationOp, OpenConversation } from "./conversation.js";
import { Failure } from "../failure.js";
import { LimitsEvent } from "./limits.js";
import { McpEvent } from "./mcp.js";
import { LockOwner, SaveOutcome } from "./rollout-writer.js";

const conversationId = z.string();

/** An error of a class of ours, as it crosses to another thread. */
export const ErrorData = z.discriminatedUnion("name", [
  z.object({ name: z.literal("FailureError"), failure: Failure }),
  z.object({ name: z.literal("InvalidInputError"), message: z.string() }),
  z.object({ name: z.literal("ConversationNotFoundError"), conversationId }),
  z.object({ name: z.literal("EmptyRolloutError"), conversationId }),
  z.object({
    name: z.literal("CorruptedRolloutError"),
    conversationId,
    line: z.number(),
    detail: z.string(),
  }),
  z.object({ name: z.literal("ConversationInUseError"), conversationId, owner: z.string() }),
  z.object({ name: z.literal("CodexLockError"), conversationId, reason: z.string() }),
  z.object({ name: z.literal("Error"), message: z.string() }),
]);
export type ErrorData = z.infer<typeof ErrorData>;

/** Messages to a shard. */
export const ShardOp = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("place"),
    request: OpenConversation,
    /** The files of conversations that are not in a conversation directory, by id. */
    paths: z.array(z.object({ id: z.string(), path: z.string() })),
    /** The place in shared memory that stands for the conversation. */
    slot: z.number().int().nonnegative(),
  }),
  /** Ends a conversation's actor and releases its rollout. */
  z.object({ type: z.literal("release"), conversationId }),
  /** A submission to a conversation; it is answered when the mailbox has accepted it. */
  z.object({ type: z.literal("tell"), conversationId, id: z.string(), op: ConversationOp }),
  /** A submission whose answer is awaited. Aborting the ask aborts it. */
  z.object({ type: z.literal("ask"), conversationId, id: z.string(), op: ConversationOp }),
  /** Whether the readers of a conversation's events can take more. */
  z.object({ type: z.literal("room"), conversationId, hasRoom: z.boolean() }),
  z.object({ type: z.literal("stats") }),
  /** Closes every conversation and saves what waits. */
  z.object({ type: z.literal("stop") }),
]);
export type ShardOp = z.infer<typeof ShardOp>;

export const ShardStats = z.object({
  conversations: z.number().int().nonnegative(),
  /** Bytes of the thread's heap in use. */
  heapBytes: z.number().nonnegative(),
  /** The share of time that the thread's event loop was busy, since the thread started. */
  utilization: z.number().nonnegative(),
  /** The time that the thread has computed, in milliseconds. */
  cpuMs: z.number().nonnegative(),
});
export type ShardStats = z.infer<typeof ShardStats>;

export const PlaceOutcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("placed"), saved: SaveOutcome }),
  /** Only Codex may write to the file. */
  z.object({ status: z.literal("codex_only") }),
  z.object({ status: z.literal("failed"), error: ErrorData }),
]);
export type PlaceOutcome = z.infer<typeof PlaceOutcome>;

/** The answers of a shard. An `ask` is answered with the answer of the conversation. */
export const ShardAnswers = z.object({ place: PlaceOutcome, ask: z.unknown(), stats: ShardStats });
export type ShardAnswers = z.infer<typeof ShardAnswers>;

/** Messages that conversations of a shard have published; the order is kept within a conversation. */
export const ShardEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("published"),
    conversationId,
    id: z.string(),
    msg: ConversationMsg,
    /** The length of the rollout with every line that was recorded before; 0 if it is unknown. */
    end: z.number().int().nonnegative(),
  }),
  /** Deltas that differ from the last message of their conversations only in their text. */
  z.object({
    type: z.literal("deltas"),
    /** The conversations, by slot. */
    slots: z.array(z.number().int().nonnegative()),
    /** The number of texts of each conversation. */
    counts: z.array(z.number().int().positive()),
    texts: z.array(z.string()),
  }),
  /** A conversation has something to do, or has nothing left to do. */
  z.object({ type: z.literal("active"), slot: z.number().int().nonnegative(), isActive: z.boolean() }),
  /** Lines were recorded without an event; it comes before the answer that reports them. */
  z.object({ type: z.literal("recorded"), conversationId, end: z.number().int().nonnegative() }),
  /** A conversation has failed for good. */
  z.object({ type: z.literal("failed"), conversationId }),
]);
export type ShardEvent = z.infer<typeof ShardEvent>;

/** Messages to a shard that are no submissions: what its thread needs to know about the actors of the main thread. */
export const ShardNotice = z.discriminatedUnion("type", [
  /** The owner of the locks that the writer takes. */
  z.object({ type: z.literal("owner"), owner: LockOwner }),
  z.object({ type: z.literal("writer_failed"), reason: z.string() }),
  z.object({ type: z.literal("limits"), event: LimitsEvent }),
  z.object({ type: z.literal("mcp"), event: McpEvent }),
  /** A secret that the shard has to redact. */
  z.object({ type: z.literal("secret"), secret: z.string() }),
]);
export type ShardNotice = z.infer<typeof ShardNotice>;

/** The first message of a shard: whether it can host conversations. */
export const ShardStarted = z.discriminatedUnion("type", [
  z.object({ type: z.literal("started") }),
  z.object({ type: z.literal("failed"), message: z.string() }),
]);
export type ShardStarted = z.infer<typeof ShardStarted>;

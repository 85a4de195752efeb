import * as z from "zod";
import { CompactorEvent } from "./compactor.js";
import { CompactionOutcome, CompactionPreview, ContextUsage, StrategyName } from "../compaction.js";
import { WireApi } from "../settings/config.js";
import { ConversationConfig, ResumeConfig } from "../settings/conversation-config.js";
import { EventMsg } from "../event.js";
import { Failure, FailureCode } from "../failure.js";
import { ResponseItem } from "../response-item.js";
import { SaveOutcome } from "./rollout-writer.js";
import { Op } from "../submission.js";
import { TokenUsageInfo } from "../token-usage.js";
import { SessionSource } from "../turn-context.js";
import { ReviewDecision } from "../tools/approval.js";
import { ApprovalPolicy, SandboxMode } from "../tools/policy.js";
import type { InlineInput } from "../user-input.js";

const none = <T extends string>(type: T) => z.object({ type: z.literal(type) });

/** The settings of a turn. */
export const Settings = z
  .object({
    provider: z.string(),
    model: z.string(),
    /** The wire API of the provider; absent when the provider is in this process. */
    api: WireApi.optional(),
    /**
     * Whether the API was chosen for this conversation: then it is used again on resume, instead of the configured one.
     */
    isApiChosen: z.boolean().optional(),
    /** The provider's address; absent for the default one. Never taken from a rollout: the key is sent to it. */
    baseUrl: z.string().optional(),
    /** The login used instead of a key, if any. */
    login: z.enum(["chatgpt", "claude"]).optional(),
    cwd: z.string(),
    approvalPolicy: ApprovalPolicy,
    sandbox: SandboxMode,
    effort: z.string().nullable(),
    summary: z.string(),
  })
  .readonly();
export type Settings = z.infer<typeof Settings>;

/** Ops that only a conversation's handle sends, besides those of the public protocol. */
export const HandleOp = z.discriminatedUnion("type", [
  z.object({ type: z.literal("replace_history"), items: z.array(ResponseItem).readonly() }),
  none("clear_history"),
  z.object({ type: z.literal("rename"), name: z.string() }),
  z.object({ type: z.literal("set_pinned"), pinned: z.boolean() }),
  none("flush"),
  /** Prepares for closing without ending an open turn that waits for an approval. */
  none("sleep"),
  none("read_history"),
  /** Removes an input that has not begun. */
  z.object({ type: z.literal("withdraw"), submission_id: z.string() }),
  /** Interrupts the running turn and removes every input that has not begun. */
  none("stop"),
  /** Answers an approval request; is answered itself when the turn has applied the decision, or cannot any more. */
  z.object({ type: z.literal("answer_approval"), approval_id: z.string(), decision: ReviewDecision }),
  none("context_usage"),
  z.object({ type: z.literal("preview_compaction"), strategy: StrategyName.optional() }),
  z.object({ type: z.literal("summarize"), items: z.array(ResponseItem).readonly() }),
  /** From the manager: what the compactor has published about the conversation. */
  z.object({ type: z.literal("compactor_event"), event: CompactorEvent }),
]);
export type HandleOp = z.infer<typeof HandleOp>;

/** Every op that the conversation actor accepts. Local images were read when they were submitted. */
export const ConversationOp = z.union([Op, HandleOp]);
export type ConversationOp = Exclude<Op, { type: InputType }> | InputOp | HandleOp;

type InputType = "user_input" | "user_turn" | "steer" | "queue";

/** The ops with a message of the user. */
export type InputOp = { [T in InputType]: Inlined<Extract<Op, { type: T }>> }[InputType];
type Inlined<T> = Omit<T, "items"> & { readonly items: readonly InlineInput[] };

const approvalAnswer = z.discriminatedUnion("status", [
  z.object({ status: z.literal("answered") }),
  /** No such approval request is open. */
  z.object({ status: z.literal("rejected"), message: z.string() }),
]);

/** `id` is the id that the input's events carry; for a duplicate that of the first submission with its key. */
const inputAnswer = z.discriminatedUnion("status", [
  z.object({ status: z.literal("accepted"), id: z.string() }),
  z.object({ status: z.literal("duplicate"), id: z.string() }),
  z.object({ status: z.literal("refused"), id: z.string(), code: FailureCode, message: z.string() }),
]);
export type InputAnswer = z.infer<typeof inputAnswer>;

/** The result of undoing file changes, for the user. */
export const UndoReport = z.object({ success: z.boolean(), message: z.string() }).readonly();
export type UndoReport = z.infer<typeof UndoReport>;

const result = <T extends z.ZodType>(value: T) =>
  z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), value }),
    z.object({ ok: z.literal(false), failure: Failure }),
  ]);

/** Facts that a conversation keeps while it sleeps, because its rollout does not have them. Most fields are rare. */
export const SleepMemory = z
  .object({
    sessionSource: SessionSource,
    previousSettings: Settings.optional(),
    /** The failed attempts to compact. */
    attempts: z.object({ failures: z.number(), stalledAt: z.number() }).optional(),
    /** The notices about instruction files that the user has seen. */
    shownNotices: z.array(z.string()).optional(),
    /** The folders whose file changes are not tracked, which the user knows. */
    untracked: z.array(z.string()).optional(),
    /** The files that the model has seen, with their stamps. */
    stamps: z.array(z.object({ path: z.string(), stamp: z.string() })).optional(),
    /** The source of outside content that the open turn has read; null if it has read none. */
    outsideSource: z.string().nullable().optional(),
    /** The summary that the compactor keeps, for a rollout of this length. */
    prepared: z.object({ generation: z.number(), cut: z.number(), bytes: z.number() }).optional(),
  })
  .readonly();
export type SleepMemory = z.infer<typeof SleepMemory>;

/** The answers of the conversation actor, by op. */
export const ConversationAnswers = z.object({
  user_input: inputAnswer,
  user_turn: inputAnswer,
  steer: inputAnswer,
  queue: inputAnswer,
  exec_approval: approvalAnswer,
  patch_approval: approvalAnswer,
  answer_approval: approvalAnswer,
  compact: CompactionOutcome,
  undo_compaction: CompactionOutcome,
  undo: UndoReport,
  replace_history: z.enum(["replaced", "busy"]),
  clear_history: z.enum(["cleared", "busy"]),
  rename: SaveOutcome,
  set_pinned: SaveOutcome,
  flush: SaveOutcome,
  sleep: z.discriminatedUnion("status", [
    z.object({ status: z.literal("busy") }),
    /** `wakeAfterMs`: when its open approval request times out. */
    z.object({ status: z.literal("asleep"), memory: SleepMemory, wakeAfterMs: z.number().optional() }),
  ]),
  read_history: z.array(ResponseItem),
  withdraw: z.enum(["withdrawn", "begun"]),
  /** Whether a turn was running, and the number of removed inputs. */
  stop: z.object({ interrupted: z.boolean(), withdrawn: z.number() }),
  context_usage: result(ContextUsage),
  preview_compaction: result(CompactionPreview),
  summarize: result(z.string()),
});
export type ConversationAnswers = z.infer<typeof ConversationAnswers>;

const status = <T extends string>(name: T) => ({ status: z.literal(name) });

/** The status of a turn. */
export const TurnStatus = z.discriminatedUnion("status", [
  z.object(status("processing")),
  z.object({ ...status("awaiting_approval"), toolCall: ResponseItem }),
  z.object({ ...status("awaiting_tool_result"), callId: z.string() }),
  z.object(status("completed")),
  z.object({ ...status("failed"), error: z.string() }),
  z.object(status("cancelled")),
]);
export type TurnStatus = z.infer<typeof TurnStatus>;

/**
 * Changes of the small facts that a handle answers at once. They travel between the events, in the same order, and
 * no reader of events sees them. What an event already tells is not repeated here.
 */
export const MirrorChange = z.discriminatedUnion("type", [
  /** Comes first, and again whenever the conversation was opened again. */
  z.object({
    type: z.literal("opened"),
    /** Null when the conversation is not saved. */
    rolloutPath: z.string().nullable(),
    /** For the user, before the first turn. */
    notice: z.string().optional(),
    name: z.string().optional(),
    pinned: z.boolean(),
    settings: Settings,
    turns: z.number().int().nonnegative(),
    usage: TokenUsageInfo.nullable(),
    openTurn: z.string().optional(),
    /** The event that ended the last turn; only when it was opened again. */
    lastEnd: EventMsg.optional(),
    /** The calls that wait for an approval. */
    unapprovedCalls: z.array(z.string()),
    /** The system prompt. */
    prompt: z.string(),
    /** Its MCP servers and the real path of the project they work for; absent when it has none. */
    servers: z.object({ root: z.string(), names: z.array(z.string()) }).optional(),
  }),
  z.object({ type: z.literal("named"), name: z.string() }),
  z.object({ type: z.literal("pinned"), pinned: z.boolean() }),
  z.object({ type: z.literal("settings"), settings: Settings }),
  z.object({ type: z.literal("prompt"), text: z.string() }),
  /** `submissionId` is empty for a turn that another process began. */
  z.object({ type: z.literal("turn"), turnId: z.string(), submissionId: z.string(), startedAt: z.number() }),
  z.object({ type: z.literal("turn_status"), turn: TurnStatus }),
  z.object({ type: z.literal("approval_requested"), callId: z.string() }),
  z.object({ type: z.literal("approval_decided"), callId: z.string() }),
  /** The user has approved a command for the whole conversation; the key is a hash. */
  z.object({ type: z.literal("command_approved"), key: z.string() }),
]);
export type MirrorChange = z.infer<typeof MirrorChange>;

/** Everything the conversation actor publishes. */
export const ConversationMsg = z.union([EventMsg, z.object({ type: z.literal("mirror"), change: MirrorChange })]);
export type ConversationMsg = EventMsg | { readonly type: "mirror"; readonly change: MirrorChange };

/** Facts that a conversation keeps when this process opens it again. */
const Reopening = z.object({
  settings: Settings,
  /** Keys of commands that the user has approved for the whole conversation. */
  approvedCommands: z.array(z.string()),
  /** Absent when it did not sleep, but was lost with its thread. */
  memory: SleepMemory.optional(),
});

/** A request to open a conversation, in any thread. */
export const OpenConversation = z.discriminatedUnion("mode", [
  z.object({
    mode: z.literal("create"),
    conversationId: z.string(),
    config: ConversationConfig,
    /** The conversation whose beginning is copied. */
    parent: z
      .object({
        id: z.string(),
        afterTurn: z.number().optional(),
        /** Whether the copy continues a conversation whose file only Codex may write. */
        isResumed: z.boolean().optional(),
      })
      .optional(),
  }),
  z.object({
    mode: z.literal("resume"),
    conversationId: z.string(),
    config: ResumeConfig,
    reopening: Reopening.optional(),
  }),
]);
export type OpenConversation = Readonly<z.infer<typeof OpenConversation>>;

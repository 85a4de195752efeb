import * as z from "zod";
import { ApprovalRequest, ReviewDecision } from "./tools/approval.js";
import { CompactionNotes } from "./compaction.js";
import { PersistedEventMsg } from "./event.js";
import { ResponseItem } from "./response-item.js";
import { TurnContext, SessionSource } from "./turn-context.js";
import { typesOf, unknownVariant } from "./unknown-type.js";

const timestamp = z.string();

/** The source of an imported conversation: its format, and its id there. */
export const ImportOrigin = z.object({ format: z.string(), id: z.string() });
export type ImportOrigin = z.infer<typeof ImportOrigin>;

/** Our fields of the first line, besides Codex's; `format` is their version. */
export const RolloutMetadata = z.object({
  provider: z.string(),
  model: z.string(),
  format: z.literal(1),
  imported: ImportOrigin.optional(),
});
export type RolloutMetadata = z.infer<typeof RolloutMetadata>;

export const GitInfo = z.object({
  commit_hash: z.string().nullish(),
  branch: z.string().nullish(),
  repository_url: z.string().nullish(),
});
export type GitInfo = z.infer<typeof GitInfo>;

/** Newer Codex versions fork and revert by reference: the conversation starts with a prefix of another rollout. */
export const HistoryBase = z.object({
  /** The id at the end of the other rollout's file name. */
  thread_id: z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  end_ordinal_exclusive: z.number().int().nonnegative(),
  end_byte_offset: z.number().int().nonnegative(),
});
export type HistoryBase = z.infer<typeof HistoryBase>;

export const SessionMeta = z.object({
  id: z.string(),
  forked_from_id: z.string().nullish(),
  timestamp,
  cwd: z.string(),
  originator: z.string(),
  cli_version: z.string(),
  instructions: z.string().nullish(),
  /** Absent in old rollouts. */
  source: z.unknown().optional(),
  session_source: SessionSource.optional(),
  model_provider: z.string().nullish(),
  git: GitInfo.nullish(),
  history_mode: z.enum(["legacy", "paginated"]).nullish(),
  history_base: HistoryBase.nullish(),
});
export type SessionMeta = z.infer<typeof SessionMeta>;

export const Compacted = z.object({
  message: z.string(),
  replacement_history: z.array(ResponseItem).nullish(),
  /** Ours: Codex ignores it. */
  cody: CompactionNotes.optional(),
});
export type Compacted = z.infer<typeof Compacted>;

/** A record that Codex has no type for. Codex skips the line and keeps the rest. */
export const CodyPayload = z.discriminatedUnion("type", [
  /** History was replaced from outside; `items` is the whole new history. */
  z.object({ type: z.literal("history_replaced"), items: z.array(ResponseItem) }),
  /** A call waits for a person. Without a decision after it, the call has not run. */
  z.object({ type: z.literal("approval_requested"), ...ApprovalRequest.shape }),
  z.object({
    type: z.literal("approval_decided"),
    approval_id: z.string(),
    call_id: z.string(),
    /** Of `approved_with_arguments`, only `approved` is written here, which earlier releases can read. */
    decision: ReviewDecision,
    /** The arguments with which the call runs, if the decision changed them. */
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
  /**
   * The answer to a request that no turn was waiting with when it came. The turn that asks again applies it, and records
   * it as decided before the call runs.
   */
  z.object({
    type: z.literal("approval_answered"),
    approval_id: z.string(),
    call_id: z.string(),
    decision: ReviewDecision,
  }),
  /** The conversation's new name. */
  z.object({ type: z.literal("named"), name: z.string() }),
  /** All lines before this one were imported from a file of `source_bytes` bytes. */
  z.object({ type: z.literal("imported"), from: z.string(), source_bytes: z.number(), ...ImportOrigin.shape }),
  /**
   * The model got only a part of a call's output. The whole output, as far as it was kept, is in the file named by this
   * hash beside the rollout.
   */
  z.object({
    type: z.literal("blob"),
    call_id: z.string(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.number().int().nonnegative(),
  }),
  /** Whether the conversation is exempt from the clean-up of old conversations. */
  z.object({ type: z.literal("pinned"), pinned: z.boolean() }),
]);
export type CodyPayload = z.infer<typeof CodyPayload>;

const variants = [
  z.object({
    timestamp,
    type: z.literal("session_meta"),
    metadata: z.unknown().optional(),
    payload: SessionMeta,
  }),
  z.object({ timestamp, type: z.literal("response_item"), payload: ResponseItem }),
  z.object({ timestamp, type: z.literal("compacted"), payload: Compacted }),
  z.object({ timestamp, type: z.literal("turn_context"), payload: TurnContext }),
  z.object({
    timestamp,
    type: z.literal("event_msg"),
    payload: z.union([
      PersistedEventMsg,
      unknownVariant(PersistedEventMsg.options.flatMap((o) => [...o.shape.type.values])),
    ]),
  }),
  z.object({
    timestamp,
    type: z.literal("cody"),
    payload: z.union([CodyPayload, unknownVariant(CodyPayload.options.flatMap((o) => [...o.shape.type.values]))]),
  }),
] as const;

/** One line of a rollout. Lines of an unknown type stay in the file and are skipped. */
export const RolloutLine = z.union([z.discriminatedUnion("type", variants), unknownVariant(typesOf(variants))]);
export type RolloutLine = z.infer<typeof RolloutLine>;

/** A line of a type that cody itself writes. */
export type OwnLine = Exclude<RolloutLine, { type: "(unknown)" }>;

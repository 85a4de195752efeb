import * as z from "zod";
import { ApprovalRequest, ReviewDecision } from "./approval.js";
import { CompactionNotes } from "./compaction.js";
import { PersistedEventMsg } from "./event.js";
import { ResponseItem } from "./response-item.js";
import { SessionSource } from "./session-source.js";
import { TurnContext } from "./turn-context.js";
import { typesOf, unknownVariant } from "./unknown-type.js";

const timestamp = z.string();

/** What an imported conversation comes from: a form, and how the conversation is called there. */
export const ImportOrigin = z.object({ format: z.string(), id: z.string() });
export type ImportOrigin = z.infer<typeof ImportOrigin>;

/** What the first line says besides Codex's own fields; `format` is the version of our additions. */
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

/** Newer Codex forks and reverts by pointing: the conversation begins with the first bytes of another rollout. */
export const HistoryBase = z.object({
  /** The id its file name ends in. */
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

/** A record Codex has no type for; it skips the line and keeps the rest. */
export const CodyPayload = z.discriminatedUnion("type", [
  /** History was replaced from outside; `items` is all of it. */
  z.object({ type: z.literal("history_replaced"), items: z.array(ResponseItem) }),
  /** A call waits for a person. Without a decision behind it, it has not run. */
  z.object({ type: z.literal("approval_requested"), ...ApprovalRequest.shape }),
  z.object({
    type: z.literal("approval_decided"),
    approval_id: z.string(),
    call_id: z.string(),
    decision: ReviewDecision,
  }),
  /** How the conversation is called from now on. */
  z.object({ type: z.literal("named"), name: z.string() }),
  /** All that stands before it was imported, from a file as long as this. */
  z.object({ type: z.literal("imported"), from: z.string(), source_bytes: z.number(), ...ImportOrigin.shape }),
  /** The model got a part of a call's output; the whole, as far as it was kept, is the file of this name beside the rollout. */
  z.object({
    type: z.literal("blob"),
    call_id: z.string(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.number().int().nonnegative(),
  }),
  /** Whether it stays when old conversations are cleaned up. */
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

/** One line of a rollout. Lines of a type we do not know are kept in the file and passed over. */
export const RolloutLine = z.union([z.discriminatedUnion("type", variants), unknownVariant(typesOf(variants))]);
export type RolloutLine = z.infer<typeof RolloutLine>;

/** A line cody writes itself. */
export type OwnLine = Exclude<RolloutLine, { type: "(unknown)" }>;

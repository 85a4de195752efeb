import * as z from "zod";
import { ExecApprovalRequest } from "./tools/approval.js";
import { CompactionTrigger } from "./compaction.js";
import { FileChanges } from "./tools/file-change.js";
import { KnowledgeSource } from "./tools/knowledge.js";
import { Plan } from "./tools/plan.js";
import { TurnDiff } from "./tools/diff.js";
import { McpInvocation, McpServerTools, McpStartupStatus, McpToolResult } from "./tools/mcp.js";
import { TokenUsageInfo } from "./token-usage.js";
import { SessionSource } from "./turn-context.js";

const type = <T extends string>(name: T) => ({ type: z.literal(name) });

/** Codex's description of a turn's failure: a name, or a name with details. */
export const ErrorInfo = z.union([z.string(), z.record(z.string(), z.unknown())]);

/** Start and end of a turn in seconds since 1970, as in Codex; the duration is in milliseconds. */
const turnFacts = {
  started_at: z.number().nullish(),
  completed_at: z.number().nullish(),
  duration_ms: z.number().nullish(),
  /** Ours: the cost of the turn's model calls in US dollars, if the model's price is known. */
  cost_usd: z.number().nonnegative().optional(),
};

const persisted = {
  task_started: z.object({
    ...type("task_started"),
    turn_id: z.string(),
    started_at: z.number().nullish(),
    model_context_window: z.number().nullish(),
  }),
  task_complete: z.object({
    ...type("task_complete"),
    turn_id: z.string(),
    last_agent_message: z.string().nullable(),
    error: z.object({ message: z.string(), codex_error_info: ErrorInfo.nullish() }).nullish(),
    /** Ours: true if the model reached its output limit, so that `last_agent_message` is incomplete. */
    truncated: z.boolean().optional(),
    ...turnFacts,
    /** Only on the event queue: whether the turn is on disk. */
    saved: z.boolean().optional(),
  }),
  turn_aborted: z.object({
    ...type("turn_aborted"),
    turn_id: z.string().nullish(),
    reason: z.enum(["interrupted", "replaced", "review_ended", "budget_limited"]),
    ...turnFacts,
    saved: z.boolean().optional(),
  }),
  user_message: z.object({
    ...type("user_message"),
    message: z.string(),
    images: z.array(z.string()).nullish(),
    /** Ours, like `key`: the submission that was steered, queued or named by a key. */
    submission_id: z.string().optional(),
    key: z.string().optional(),
  }),
  agent_message: z.object({ ...type("agent_message"), message: z.string(), item_id: z.string().optional() }),
  agent_reasoning: z.object({ ...type("agent_reasoning"), text: z.string(), item_id: z.string().optional() }),
  /** The provider has searched the web. */
  web_search_end: z.object({
    ...type("web_search_end"),
    call_id: z.string(),
    /** The query, the address, or the text that was searched for in a page. */
    query: z.string(),
    action: z.looseObject({ type: z.string() }).nullish(),
  }),
  token_count: z.object({
    ...type("token_count"),
    info: TokenUsageInfo.nullable(),
    rate_limits: z.unknown().optional(),
  }),
  thread_rolled_back: z.object({ ...type("thread_rolled_back"), num_turns: z.number().int().nonnegative() }),
  /** Whether the files were restored to their state before the last turn that changed any; which ones, or why not. */
  undo_completed: z.object({ ...type("undo_completed"), success: z.boolean(), message: z.string().nullish() }),
  entered_review_mode: z.object({ ...type("entered_review_mode") }),
  exited_review_mode: z.object({ ...type("exited_review_mode") }),
  context_compacted: z.object({
    ...type("context_compacted"),
    old_token_count: z.number().int().nonnegative().optional(),
    new_token_count: z.number().int().nonnegative().optional(),
  }),
} as const;

const transient = {
  session_configured: z.object({
    ...type("session_configured"),
    session_id: z.string(),
    model: z.string(),
    model_provider_id: z.string(),
    reasoning_effort: z.string().nullish(),
    history_log_id: z.number(),
    history_entry_count: z.number(),
    initial_messages: z.array(z.unknown()).nullish(),
    /** Null when the conversation is not saved. */
    rollout_path: z.string().nullable(),
    approval_policy: z.string(),
    sandbox_mode: z.string(),
    /** The folder the conversation works in, where tools may write. */
    cwd: z.string(),
    /** The folder of the last turn of a resumed or forked conversation, as its file records it. */
    recorded_cwd: z.string().optional(),
    session_source: SessionSource,
  }),
  agent_message_delta: z.object({ ...type("agent_message_delta"), delta: z.string(), item_id: z.string() }),
  agent_reasoning_delta: z.object({ ...type("agent_reasoning_delta"), delta: z.string(), item_id: z.string() }),
  /** The model begins a tool call; its `tool_call_end` has the same `item_id`. */
  tool_call_start: z.object({
    ...type("tool_call_start"),
    item_id: z.string(),
    call_id: z.string(),
    name: z.string(),
  }),
  /** A piece of the arguments of a call, or of the input of a freeform call. */
  tool_call_delta: z.object({ ...type("tool_call_delta"), item_id: z.string(), delta: z.string() }),
  /** The model has finished writing a call. Other events report that it runs. */
  tool_call_end: z.object({
    ...type("tool_call_end"),
    item_id: z.string(),
    /** The id of the call in history and in the events about its execution. */
    call_id: z.string(),
    name: z.string(),
    /** True if the answer was cut off at the output limit inside this call, which then is not run. */
    incomplete: z.boolean().optional(),
  }),
  raw_response_item: z.object({ ...type("raw_response_item"), item: z.unknown() }),
  exec_approval_request: z.object({ ...type("exec_approval_request"), ...ExecApprovalRequest.shape }),
  apply_patch_approval_request: z.object({
    ...type("apply_patch_approval_request"),
    ...ExecApprovalRequest.shape,
    changes: FileChanges,
  }),
  exec_command_begin: z.object({
    ...type("exec_command_begin"),
    call_id: z.string(),
    turn_id: z.string(),
    command: z.array(z.string()),
    cwd: z.string(),
  }),
  exec_command_output_delta: z.object({
    ...type("exec_command_output_delta"),
    call_id: z.string(),
    stream: z.enum(["stdout", "stderr"]),
    /** Base64. */
    chunk: z.string(),
  }),
  exec_command_end: z.object({
    ...type("exec_command_end"),
    call_id: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    exit_code: z.number(),
    duration: z.object({ secs: z.number(), nanos: z.number() }),
  }),
  patch_apply_begin: z.object({
    ...type("patch_apply_begin"),
    call_id: z.string(),
    turn_id: z.string(),
    /** True if no approval was requested. */
    auto_approved: z.boolean(),
    changes: FileChanges,
  }),
  patch_apply_end: z.object({
    ...type("patch_apply_end"),
    call_id: z.string(),
    turn_id: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    success: z.boolean(),
    status: z.enum(["completed", "failed"]),
  }),
  plan_update: z.object({ ...type("plan_update"), ...Plan.shape }),
  mcp_startup_update: z.object({ ...type("mcp_startup_update"), server: z.string(), status: McpStartupStatus }),
  /** Sent once, when every server of the conversation has started or failed. */
  mcp_startup_complete: z.object({
    ...type("mcp_startup_complete"),
    ready: z.array(z.string()),
    failed: z.array(z.object({ server: z.string(), error: z.string() })),
    cancelled: z.array(z.string()),
  }),
  mcp_tool_call_begin: z.object({
    ...type("mcp_tool_call_begin"),
    call_id: z.string(),
    invocation: McpInvocation,
  }),
  mcp_tool_call_end: z.object({
    ...type("mcp_tool_call_end"),
    call_id: z.string(),
    invocation: McpInvocation,
    duration: z.object({ secs: z.number(), nanos: z.number() }),
    result: McpToolResult,
  }),
  mcp_list_tools_response: z.object({ ...type("mcp_list_tools_response"), ...McpServerTools.shape }),
  /** A summary is being made in the background. `compaction_start` follows if and when it is applied. */
  compaction_prepare: z.object({
    ...type("compaction_prepare"),
    strategy: z.string(),
    estimated_tokens: z.number().int().nonnegative(),
  }),
  /** A `compaction_end` always follows. */
  compaction_start: z.object({
    ...type("compaction_start"),
    trigger: CompactionTrigger,
    strategy: z.string(),
    estimated_tokens: z.number().int().nonnegative(),
  }),
  compaction_end: z.object({
    ...type("compaction_end"),
    /** The history changes only if the outcome is `compacted`. */
    outcome: z.enum(["compacted", "kept", "aborted"]),
    tokens_before: z.number().int().nonnegative(),
    tokens_after: z.number().int().nonnegative(),
    /** The beginning of the summary; empty if there is none. */
    summary: z.string(),
  }),
  /** The file changes in the turn's folder, whoever made them. Not sent if there are none. */
  turn_diff: z.object({ ...type("turn_diff"), ...TurnDiff.shape }),
  undo_started: z.object({ ...type("undo_started"), message: z.string().nullish() }),
  /** The number of secrets in the turn that were not written to disk: the events contain them, the rollout does not. */
  secrets_redacted: z.object({ ...type("secrets_redacted"), count: z.number().int().positive() }),
  /** Knowledge that later conversations of the project will see. `cody knowledge undo` removes what a model saved. */
  knowledge_saved: z.object({
    ...type("knowledge_saved"),
    knowledge_id: z.string(),
    content: z.string(),
    source: KnowledgeSource.optional(),
  }),
  warning: z.object({ ...type("warning"), message: z.string() }),
  error: z.object({ ...type("error"), message: z.string(), codex_error_info: ErrorInfo.nullish() }),
  /** A turn stops at a limit; an `error` with a text for the user follows. */
  turn_limit_reached: z.object({
    ...type("turn_limit_reached"),
    /** The setting, such as `turnLimits.cost`. */
    setting: z.string(),
    limit: z.number(),
    /** How much the turn has used, in the unit of the setting. */
    used: z.number(),
  }),
  /** A request failed and will be sent again after a wait. */
  stream_error: z.object({
    ...type("stream_error"),
    message: z.string(),
    codex_error_info: ErrorInfo.nullish(),
    attempt: z.number().int().positive().optional(),
    max_attempts: z.number().int().nonnegative().optional(),
    wait_ms: z.number().nonnegative().optional(),
  }),
  /** A reader fell behind its bound and missed the events from `from` to `to`. */
  lagged: z.object({ ...type("lagged"), from: z.number().int(), to: z.number().int() }),
  shutdown_complete: z.object({ ...type("shutdown_complete") }),
} as const;

function variantsOf<V extends z.ZodObject>(table: Readonly<Record<string, V>>): [V, ...V[]] {
  return Object.values(table) as [V, ...V[]];
}

/** Events that can be stored in a rollout. */
export const PersistedEventMsg = z.discriminatedUnion("type", variantsOf(persisted));
export type PersistedEventMsg = z.infer<typeof PersistedEventMsg>;

/** Every event a conversation can send. */
export const EventMsg = z.discriminatedUnion("type", variantsOf({ ...persisted, ...transient }));
export type EventMsg = z.infer<typeof EventMsg>;

/** An entry of a conversation's event queue. `seq` has no gaps and no duplicates. */
export const Event = z.object({
  /** The id of the submission that caused the event; empty if none did. */
  id: z.string(),
  seq: z.number().int().nonnegative(),
  conversation_id: z.string(),
  msg: EventMsg,
});
export type Event = z.infer<typeof Event>;

/** An event that asks a person to decide, with `exec_approval` or `patch_approval`. */
export type ApprovalMsg = Extract<EventMsg, { type: "exec_approval_request" | "apply_patch_approval_request" }>;

/** Does not load the schema library. */
export function isApprovalMsg(msg: EventMsg): msg is ApprovalMsg {
  return msg.type === "exec_approval_request" || msg.type === "apply_patch_approval_request";
}

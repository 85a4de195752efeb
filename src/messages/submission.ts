import * as z from "zod";
import { ReviewDecision } from "./tools/approval.js";
import { StrategyName } from "./compaction.js";
import { OutputSchema } from "./output-schema.js";
import { ApprovalPolicy, SandboxPolicy } from "./tools/policy.js";
import { UserInput } from "./user-input.js";

const items = z.array(UserInput).min(1, "at least one input is needed").max(1000);
const none = <T extends string>(type: T) => z.strictObject({ type: z.literal(type) });

/** Answers an approval request, named by `approval_id` as in the request's event, or by `id` as in Codex. */
const approvalAnswer = <T extends string>(type: T) =>
  z
    .strictObject({
      type: z.literal(type),
      approval_id: z.string().optional(),
      id: z.string().optional(),
      decision: ReviewDecision,
    })
    .refine(({ approval_id, id }) => (approval_id ?? id) !== undefined, "approval_id: the id of the request is needed");

/** Ours: the items hold text the user did not write, such as a web page. Knowledge saved in the turn needs approval. */
const outside_content = z.boolean().optional();

/**
 * Ours: names an input, so that it is accepted once however often it is sent, also after a restart. The conversation
 * remembers the newest ones.
 */
const key = z
  .string()
  .regex(/^[\x20-\x7e]{1,200}$/, "key: expected 1 to 200 printable ASCII characters")
  .optional();

/** The settings that a submission may change for the following turns. */
const settings = {
  cwd: z.string(),
  approval_policy: ApprovalPolicy,
  sandbox_policy: SandboxPolicy,
  model: z.string().min(1),
  effort: z.string().nullish(),
  summary: z.string(),
};

/** Every operation a conversation accepts, under the wire names of Codex 0.58. */
export const Op = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("user_input"),
    items,
    outside_content,
    key,
    /** The schema for the last answer of this turn; later versions of Codex have it here. */
    final_output_json_schema: OutputSchema.nullish(),
  }),
  z.strictObject({
    type: z.literal("user_turn"),
    items,
    outside_content,
    key,
    ...settings,
    final_output_json_schema: OutputSchema.nullish(),
  }),
  /** Ours: a message of the user for the running turn, before its next model call. Without one it begins a turn. */
  z.strictObject({ type: z.literal("steer"), items, outside_content, key }),
  /** Ours: like `user_input`, under a name that says that it waits for the end of the running turn. */
  z.strictObject({
    type: z.literal("queue"),
    items,
    outside_content,
    key,
    final_output_json_schema: OutputSchema.nullish(),
  }),
  z.strictObject({
    type: z.literal("override_turn_context"),
    cwd: settings.cwd.optional(),
    approval_policy: settings.approval_policy.optional(),
    sandbox_policy: settings.sandbox_policy.optional(),
    model: settings.model.optional(),
    effort: settings.effort,
    summary: settings.summary.optional(),
  }),
  none("interrupt"),
  approvalAnswer("exec_approval"),
  approvalAnswer("patch_approval"),
  z.strictObject({
    type: z.literal("compact"),
    /** Instructions for the summary. */
    instructions: z.string().max(20_000).optional(),
    strategy: StrategyName.optional(),
  }),
  /** Ours: restores the history before the last compaction. */
  none("undo_compaction"),
  /** Ours: a text for the model that survives every compaction. */
  z.strictObject({ type: z.literal("pin"), text: z.string().regex(/\S/, "the text to pin is empty").max(20_000) }),
  none("undo"),
  z.strictObject({ type: z.literal("review"), review_request: z.looseObject({ prompt: z.string() }) }),
  z.strictObject({ type: z.literal("add_to_history"), text: z.string() }),
  z.strictObject({ type: z.literal("get_history_entry_request"), offset: z.number().int(), log_id: z.number().int() }),
  none("list_mcp_tools"),
  none("list_custom_prompts"),
  z.strictObject({ type: z.literal("run_user_shell_command"), command: z.string() }),
  none("shutdown"),
]);
export type Op = z.infer<typeof Op>;

/** An entry of a conversation's submission queue. Every event it causes carries its id. */
export const Submission = z.strictObject({ id: z.string().min(1), op: Op });
export type Submission = z.infer<typeof Submission>;

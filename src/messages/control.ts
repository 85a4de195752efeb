import * as z from "zod";
import { Event } from "./event.js";
import { FailureCode } from "./failure.js";
import { Op } from "./submission.js";
import { ApprovalRequest, ReviewDecision } from "./tools/approval.js";

/** The version of the messages on a control socket; both sides must have the same. */
export const controlProtocol = 1;

/** The first message of a client. Unknown keys are allowed, so that a newer client gets a clear answer. */
export const ControlHello = z.looseObject({
  type: z.literal("hello"),
  protocol: z.number().int(),
  /** The version of cody. */
  version: z.string(),
});

const id = z.number().int().nonnegative();
const request = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.strictObject({ id, type: z.literal(type), ...shape });
const conversation_id = z.string();

/** A request to a process with conversations. The answer has its id. */
export const ControlRequest = z.discriminatedUnion("type", [
  /** The open conversations. */
  request("list", {}),
  /** The events of a conversation until it ends; with `since`, from that event on, else from now on. */
  request("events", { conversation_id, since: z.string().optional() }),
  request("submit", { conversation_id, op: Op }),
  /** Interrupts the running turn and drops the inputs that wait. */
  request("stop", { conversation_id }),
  request("answer_approval", { conversation_id, approval_id: z.string(), decision: ReviewDecision }),
  /** To a daemon only: opens a saved conversation, which then works in this folder, or in its recorded one. */
  request("open", { conversation_id, path: z.string().optional(), cwd: z.string(), recorded_cwd: z.boolean() }),
  /** To a daemon only. */
  request("shutdown", {}),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

export const ProcessKind = z.enum(["cli", "library", "daemon"]);
export type ProcessKind = z.infer<typeof ProcessKind>;

/** The state of an open conversation. `asleep`: its file is closed until the next submission. */
export const RunningState = z.enum(["working", "needs_approval", "idle", "asleep"]);
export type RunningState = z.infer<typeof RunningState>;

export const RunningConversation = z.object({
  conversation_id,
  name: z.string().optional(),
  state: RunningState,
  provider: z.string(),
  model: z.string(),
  cwd: z.string(),
  /** Used by all model calls so far. */
  tokens: z.number().int().nonnegative(),
  cost_usd: z.number().nonnegative().optional(),
  turns: z.number().int().nonnegative(),
  /** When this process opened it, in milliseconds since 1970. */
  opened_at: z.number(),
  approvals: z.array(ApprovalRequest),
});
export type RunningConversation = z.infer<typeof RunningConversation>;

const reply = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ id, type: z.literal(type), ...shape });

/** The first message of a process that serves the client. */
export const ControlWelcome = z.object({
  type: z.literal("welcome"),
  protocol: z.number().int(),
  version: z.string(),
  pid: z.number().int(),
  kind: ProcessKind,
  home: z.string(),
  /** In milliseconds since 1970. */
  started_at: z.number(),
});
export type ControlWelcome = z.infer<typeof ControlWelcome>;

/** Everything that a process sends on its control socket. */
export const ControlReply = z.discriminatedUnion("type", [
  ControlWelcome,
  /** The process does not serve this client, and closes the connection. */
  z.object({ type: z.literal("refused"), message: z.string() }),
  reply("conversations", { conversations: z.array(RunningConversation) }),
  reply("subscribed", { conversation: RunningConversation }),
  /** `event_id` is valid for as long as the process has the conversation open. */
  reply("event", { event_id: z.string(), event: Event }),
  /** The conversation has ended. */
  reply("end", {}),
  reply("submitted", { submission_id: z.string(), status: z.enum(["accepted", "duplicate"]) }),
  reply("stopped", { interrupted: z.boolean(), withdrawn: z.number().int().nonnegative() }),
  reply("answered", {}),
  reply("opened", { conversation_id }),
  reply("done", {}),
  reply("failed", { code: FailureCode, message: z.string() }),
]);
export type ControlReply = z.infer<typeof ControlReply>;

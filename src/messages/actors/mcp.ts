import * as z from "zod";
import { McpServerEntries } from "../settings/mcp-config.js";

/** A tool as described by its server, sanitized for the model. */
export const ListedTool = z.object({
  /** The server's own name for the tool. */
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** A hash of the server's whole description: an approval holds for this revision only. */
  revision: z.string(),
});
export type ListedTool = z.infer<typeof ListedTool>;

const connected = {
  offers: z.object({ tools: z.boolean(), resources: z.boolean(), prompts: z.boolean() }),
  tools: z.array(ListedTool),
  /** The tools that were left out, and why. */
  leftOut: z.array(z.string()),
};

/** The state of a server. The tools of a lost server are still offered: the next call reconnects it. */
export const ServerState = z.discriminatedUnion("status", [
  z.object({ status: z.literal("starting") }),
  z.object({ status: z.literal("ready"), ...connected }),
  z.object({ status: z.literal("lost"), ...connected }),
  z.object({ status: z.literal("failed"), error: z.string() }),
]);
export type ServerState = z.infer<typeof ServerState>;

/** The outcome of a request to a server. */
export const Answered = z.discriminatedUnion("ok", [
  /** `value` is any JSON: each caller checks its own answer. */
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
export type Answered = z.infer<typeof Answered>;

/** A server's question to the user during a call; `schema` describes the fields of the answer. */
const question = { message: z.string(), schema: z.unknown() };
export const ElicitationRequest = z.object(question);
export type ElicitationRequest = z.infer<typeof ElicitationRequest>;

export const ElicitationAnswer = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).exactOptional(),
});
export type ElicitationAnswer = z.infer<typeof ElicitationAnswer>;

const call = {
  /** Unique among all calls: the server's questions during the call carry this id. */
  callId: z.string(),
  tool: z.string(),
  /** The revision of the tool that the caller knows; a different one is not called. */
  revision: z.string(),
  arguments: z.record(z.string(), z.unknown()),
};

/** A request other than a call, by its name in the MCP protocol. */
const request = {
  method: z.enum(["resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"]),
  params: z.record(z.string(), z.unknown()),
};
export type McpMethod = z.infer<typeof request.method>;

/** Every message that the actor of one server accepts. */
export const McpServerOp = z.discriminatedUnion("type", [
  z.object({ type: z.literal("connect") }),
  z.object({ type: z.literal("call"), ...call }),
  z.object({ type: z.literal("request"), ...request }),
  z.object({ type: z.literal("elicitation_answer"), id: z.number().int(), answer: ElicitationAnswer }),
]);
export type McpServerOp = z.infer<typeof McpServerOp>;

export const McpServerAnswers = z.object({ connect: ServerState, call: Answered, request: Answered });
export type McpServerAnswers = z.infer<typeof McpServerAnswers>;

export const McpServerEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("state"), state: ServerState }),
  z.object({ type: z.literal("elicitation"), id: z.number().int(), callId: z.string(), ...question }),
]);
export type McpServerEvent = z.infer<typeof McpServerEvent>;

/** The state of a server at one moment; of two, the one with the higher number is newer. */
const snapshot = { serverId: z.string(), number: z.number().int(), state: ServerState };

/** A conversation's right to use the servers of its project. The client chooses the id, unique among all clients. */
const leaseId = z.string();
/** One server of the lease. */
const server = { leaseId, serverId: z.string() };

/** Every message of conversations about their servers. Each has the lease that it belongs to. */
export const McpOp = z.discriminatedUnion("type", [
  /** Leases the servers of a project; each starts with its first `connect`, unless another lease has started it. */
  z.object({
    type: z.literal("lease"),
    leaseId,
    /** The thread of the conversation. All of a client's leases are released together when its thread dies. */
    client: z.string(),
    /** The real path of the project's folder. */
    root: z.string(),
    entries: McpServerEntries,
  }),
  /** Answered when the server is ready or has failed. */
  z.object({ type: z.literal("connect"), ...server }),
  /** Reconnects a failed server in the background if its pause is over. */
  z.object({ type: z.literal("retry"), ...server }),
  z.object({ type: z.literal("call"), ...server, ...call }),
  z.object({ type: z.literal("request"), ...server, ...request }),
  z.object({ type: z.literal("elicitation_answer"), leaseId, elicitationId: z.string(), answer: ElicitationAnswer }),
  /** Answered when the servers that nobody else uses have ended. */
  z.object({ type: z.literal("release"), leaseId }),
  /** The client's thread has died and will not release its leases. */
  z.object({ type: z.literal("client_gone"), client: z.string() }),
]);
export type McpOp = z.infer<typeof McpOp>;

export const ServerSnapshot = z.object(snapshot);
export type ServerSnapshot = z.infer<typeof ServerSnapshot>;

export const McpAnswers = z.object({
  lease: z.array(ServerSnapshot.extend({ name: z.string() })),
  connect: ServerSnapshot,
  call: Answered,
  request: Answered,
});
export type McpAnswers = z.infer<typeof McpAnswers>;

export const McpEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("server_state"), ...snapshot }),
  /** A server asks the user of the conversation that made the call. */
  z.object({ type: z.literal("elicitation"), leaseId, callId: z.string(), elicitationId: z.string(), ...question }),
]);
export type McpEvent = z.infer<typeof McpEvent>;

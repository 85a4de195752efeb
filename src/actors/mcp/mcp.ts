import type { Answered, ElicitationAnswer, McpAnswers, McpEvent, McpOp } from "../../messages/actors/mcp.js";
import type { Actor, Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import type { McpServers, McpServersOptions, SharedServer } from "./mcp-servers.js";

/** Mailbox capacity: far more than the number of calls that all conversations make at once. */
const capacity = 100_000;

const notLeased: Answered = { ok: false, error: "the server was released" };

type McpOptions = Omit<McpServersOptions, "onState">;

interface OpenLease {
  readonly client: string;
  readonly opened: Promise<ReturnType<McpServers["lease"]>>;
}

/** Leases the MCP servers of projects to conversations, and passes their messages on to the actors of the servers. */
const mcp: Actor<McpOp, McpAnswers, McpOptions, McpEvent> = {
  name: "mcp",
  start: (options, { publish }) => {
    const leases = new Map<string, OpenLease>();
    const elicitations = new Map<string, (answer: ElicitationAnswer) => void>();
    let servers: Promise<McpServers> | undefined;

    /** Loaded only when there is a server to start. */
    async function load(): Promise<McpServers> {
      const { McpServers: Servers } = await import("./mcp-servers.js");
      return new Servers({ ...options, onState: (snapshot) => publish({ type: "server_state", ...snapshot }) });
    }

    async function lease({ root, entries }: Extract<McpOp, { type: "lease" }>) {
      return (await (servers ??= load())).lease(root, entries);
    }

    async function find({
      leaseId,
      serverId,
    }: {
      leaseId: string;
      serverId: string;
    }): Promise<SharedServer | undefined> {
      return (await leases.get(leaseId)?.opened)?.servers.find(({ id }) => id === serverId);
    }

    async function release(leaseId: string): Promise<void> {
      const open = leases.get(leaseId);
      leases.delete(leaseId);
      await (await open?.opened)?.release();
    }

    async function call(op: Extract<McpOp, { type: "call" }>, signal: AbortSignal): Promise<Answered> {
      const { leaseId, callId, tool, revision, arguments: args } = op;
      const asked: string[] = [];
      const server = await find(op);
      const answered = await server?.call(
        { tool, revision, arguments: args },
        ({ message, schema }) =>
          new Promise((resolve) => {
            const elicitationId = `${callId}/${asked.length}`;
            asked.push(elicitationId);
            elicitations.set(elicitationId, resolve);
            publish({ type: "elicitation", leaseId, callId, elicitationId, message, schema });
          }),
        signal,
      );
      for (const elicitationId of asked) {
        elicitations.get(elicitationId)?.({ action: "cancel" });
        elicitations.delete(elicitationId);
      }
      return answered ?? notLeased;
    }

    return {
      lease: async (op) => {
        const opened = lease(op);
        // Known at once, so that a release is never too early.
        leases.set(op.leaseId, { client: op.client, opened });
        return (await opened).servers.map((server) => ({ name: server.name, ...server.snapshot }));
      },
      connect: async (op) => {
        const server = await find(op);
        await server?.connect();
        const { serverId } = op;
        return server?.snapshot ?? { serverId, number: 0, state: { status: "failed", error: notLeased.error } };
      },
      retry: async (op) => (await find(op))?.retry(),
      call,
      request: async (op, signal) => (await (await find(op))?.request(op.method, op.params, signal)) ?? notLeased,
      elicitation_answer: ({ elicitationId, answer }) => elicitations.get(elicitationId)?.(answer),
      release: ({ leaseId }) => release(leaseId),
      client_gone: async ({ client }) => {
        const ids = [...leases].flatMap(([id, open]) => (open.client === client ? [id] : []));
        await Promise.all(ids.map(release));
      },
      [Symbol.asyncDispose]: async () => {
        // A lease that could not be opened must not keep the others from ending.
        await Promise.allSettled([...leases.keys()].map(release));
        await (await servers)?.close();
      },
    };
  },
};

/** Starts the actor; it starts no server before one is leased. `onEvent` has to reach the `ServerLeases` of all threads. */
export function startMcp(options: McpOptions, onEvent: (event: McpEvent) => void): Ref<McpOp, McpAnswers> {
  return spawn(mcp, options, { capacity, onEvent: ({ msg }) => onEvent(msg) });
}

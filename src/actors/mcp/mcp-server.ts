import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../base/error-message.js";
import type { McpRedactor } from "../../config/secrets/mcp-redactor.js";
import type {
  Answered,
  ElicitationRequest,
  McpServerAnswers,
  McpServerEvent,
  McpServerOp,
  ServerState,
} from "../../messages/actors/mcp.js";
import type { McpServerEntry } from "../../messages/settings/mcp-config.js";
import { shortened } from "../../base/text/truncate.js";
import { createFetch } from "../../providers/transport/http-fetch.js";
import type { Actor } from "../runtime/actor.js";
import { RestartWindow } from "../runtime/spawn.js";
import { CallDeadline, RunningCalls } from "./running-calls.js";
import { type Connection, openConnection } from "./transport/connection.js";
import { type ListedTools, ToolList } from "./listed-tools.js";
import type { ServerLogin } from "./login/server-login.js";
import { type ServerTarget, resolveServerTarget } from "./server-target.js";
import { StderrLog } from "./transport/stderr-log.js";

export interface McpServerOptions {
  readonly name: string;
  readonly entry: McpServerEntry;
  /** The project that the server works for. */
  readonly root: string;
  /** The directory where server logins are stored. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (text: string) => void;
  /** Redacts secrets in everything the server sends and in our messages about it. */
  readonly redactor: McpRedactor;
}

const defaultStartMs = 10_000;
const defaultCallMs = 300_000;
/** Timeout of requests that are not tool calls. */
const askMs = 30_000;
const maxPages = 50;
/** Minimum time between two listings, for a server that reports changes continuously. */
const relistMs = 200;
const maxErrorChars = 2_000;
/** Connections are opened on demand, but not more often than this. */
const budget = { restarts: 5, windowMs: 60_000 };

type Own = { readonly type: "tried" };

/** Owns the connection to one server and reconnects when it was lost. */
export const mcpServer: Actor<McpServerOp, McpServerAnswers, McpServerOptions, McpServerEvent, Own> = {
  name: "mcp",
  start: ({ name, entry, root, home, env, log, redactor }, context) => {
    const window = new RestartWindow(budget);
    const stderr = new StderrLog(
      (line) => log(`mcp ${name}: ${line}`),
      (text) => redactor.text(text),
    );
    const calls = new RunningCalls(({ message, schema, ...asked }) =>
      context.publish({
        type: "elicitation",
        ...asked,
        message: redactor.text(message),
        schema: redactor.value(schema),
      }),
    );
    let state: ServerState = { status: "starting" };
    let connecting: Promise<Connection> | undefined;
    let connection: Connection | undefined;
    let login: ServerLogin | undefined;
    /** Set while the tools are listed again; a change meanwhile causes another listing. */
    let listing: Promise<void> | undefined;
    let isListOld = false;
    let listedAt = -relistMs;

    function setState(next: ServerState): void {
      state = next;
      context.publish({ type: "state", state });
    }

    function connected(): Promise<Connection> {
      if (connection !== undefined) return Promise.resolve(connection);
      connecting ??= new Promise<Connection>((resolve, reject) => {
        context.run(
          (signal) => connect(signal).then(resolve, reject),
          () => ({ type: "tried" }),
        );
      }).finally(() => (connecting = undefined));
      return connecting;
    }

    async function connect(signal: AbortSignal): Promise<Connection> {
      if (!window.spend()) throw new Error(`it was started ${budget.restarts} times within a minute; ${lastError()}`);
      if (state.status !== "lost") setState({ status: "starting" });
      stderr.forget();
      const deadline = new CallDeadline((entry.startup_timeout_sec ?? defaultStartMs / 1_000) * 1_000, signal);
      let opened: Connection | undefined;
      try {
        const bounds = { signal: deadline.signal, timeoutMs: noTimeoutMs };
        const order = resolveServerTarget(entry, root, env);
        opened = await openConnection(
          order,
          env,
          listener(() => opened),
          bounds,
          await loginFor(order),
        );
        const tools = await list(opened, deadline.signal);
        connection = opened;
        setState({ status: "ready", offers: opened.offers, ...tools });
        for (const text of tools.leftOut) log(`mcp ${name}: a tool is left out: ${redactor.text(text)}`);
        return opened;
      } catch (error) {
        await opened?.close();
        const reason = deadline.isOver ? `it was not ready within ${deadline.text}` : errorMessage(error);
        setState({ status: "failed", error: explained(reason) });
        throw new Error(explained(reason), { cause: error });
      } finally {
        deadline.end();
      }
    }

    /** Loaded only for network servers without other credentials. */
    async function loginFor(order: ServerTarget): Promise<ServerLogin | undefined> {
      if (order.type !== "url" || order.hasProof) return undefined;
      const { ServerLogin: Login } = await import("./login/server-login.js");
      login ??= new Login({
        name,
        url: order.url,
        home,
        fetch: createFetch(env),
        learn: (secret) => redactor.learn(secret),
        warn: (message) => log(`mcp ${name}: ${message}`),
      });
      return login;
    }

    function lastError(): string {
      return state.status === "failed" ? state.error : "it will be tried again later";
    }

    function explained(reason: string): string {
      const last = "url" in entry || stderr.last === "" ? "" : `; it wrote: ${stderr.last}`;
      return shortened(redacted(reason) + last, maxErrorChars);
    }

    /** Cut before redaction, because the reason may be as long as a message. */
    function redacted(reason: string): string {
      return shortened(redactor.text(shortened(reason, 4 * maxErrorChars)), maxErrorChars);
    }

    /** Redacts the answer, because a server has its own secrets and may return them to any caller. */
    async function request(open: Connection, ...args: Parameters<Connection["request"]>): Promise<unknown> {
      return redactor.value(await open.request(...args));
    }

    async function answered(work: () => Promise<unknown>): Promise<Answered> {
      try {
        return { ok: true, value: await work() };
      } catch (error) {
        return { ok: false, error: redacted(errorMessage(error)) };
      }
    }

    function listener(self: () => Connection | undefined) {
      return {
        onToolsChanged: () => {
          if (self() === connection) relist();
        },
        onStderr: (bytes: Buffer) => stderr.push(bytes),
        onElicitation: (elicited: ElicitationRequest) => calls.elicit(elicited),
        onLost: (reason: string) => {
          log(`mcp ${name}: lost: ${explained(reason)}`);
          if (connection === undefined || self() !== connection) return;
          connection = undefined;
          if (state.status === "ready") setState({ ...state, status: "lost" });
        },
      };
    }

    async function list(open: Connection, signal: AbortSignal): Promise<ListedTools> {
      const found = new ToolList(entry);
      let cursor: unknown;
      for (let page = 0; open.offers.tools && page < maxPages && !found.isFull; page += 1) {
        const params = typeof cursor === "string" ? { cursor } : {};
        const answer = await request(open, "tools/list", params, { signal, timeoutMs: noTimeoutMs });
        const { tools, nextCursor } = Object(answer) as { readonly tools?: unknown; readonly nextCursor?: unknown };
        if (Array.isArray(tools)) found.add(tools as unknown[]);
        if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) break;
        cursor = nextCursor;
      }
      return found.listed;
    }

    /** However often a server reports changes, only one listing runs at a time. */
    function relist(): void {
      isListOld = true;
      listing ??= new Promise<void>((resolve) => {
        context.run(
          (signal) => listAgain(signal).finally(resolve),
          () => ({ type: "tried" }),
        );
      }).finally(() => (listing = undefined));
    }

    async function listAgain(signal: AbortSignal): Promise<void> {
      const open = connection;
      if (open === undefined) return;
      while (isListOld) {
        await sleep(Math.max(0, listedAt + relistMs - performance.now()), undefined, { signal, ref: false }).catch(
          nothing,
        );
        isListOld = false;
        listedAt = performance.now();
        const bounds = AbortSignal.any([signal, AbortSignal.timeout(askMs)]);
        // If listing fails, the tools cannot be known to be unchanged, so none is offered.
        const tools = await list(open, bounds).catch(() => ({ tools: [], leftOut: [] }));
        if (open === connection) setState({ status: "ready", offers: open.offers, ...tools });
      }
    }

    function revisionOf(tool: string): string | undefined {
      return "tools" in state ? state.tools.find((each) => each.name === tool)?.revision : undefined;
    }

    return {
      connect: async () => {
        await connected().catch((error: unknown) => {
          // Out of budget: no connection was attempted.
          if (state.status !== "failed") setState({ status: "failed", error: redacted(errorMessage(error)) });
        });
        return state;
      },
      call: async (op, signal) => {
        const deadline = new CallDeadline((entry.tool_timeout_sec ?? defaultCallMs / 1_000) * 1_000, signal);
        calls.begin(op.callId, deadline);
        const outcome = await answered(async () => {
          const open = await connected();
          // An approved tool may just have changed.
          await listing;
          if (revisionOf(op.tool) !== op.revision)
            throw new Error("the tool's definition has changed; nothing was called");
          const params = { name: op.tool, arguments: op.arguments };
          return await request(open, "tools/call", params, { signal: deadline.signal, timeoutMs: noTimeoutMs });
        });
        calls.end(op.callId);
        deadline.end();
        if (!deadline.isOver || outcome.ok) return outcome;
        return { ok: false, error: `it did not answer within ${deadline.text}; the call was cancelled` };
      },
      request: ({ method, params }, signal) =>
        answered(async () => await request(await connected(), method, params, { signal, timeoutMs: askMs })),
      elicitation_answer: ({ id, answer }) => calls.answer(id, answer),
      tried: () => undefined,
      [Symbol.asyncDispose]: async () => {
        await connection?.close();
      },
    };
  },
};

const nothing = (): void => undefined;

/** Longer than any of our own deadlines, which are the ones that count. */
const noTimeoutMs = 2_000_000_000;

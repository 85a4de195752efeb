import { randomUUID } from "node:crypto";
import { errorMessage } from "../../base/error-message.js";
import { McpRedactor } from "../../config/secrets/mcp-redactor.js";
import type {
  Answered,
  ElicitationAnswer,
  ElicitationRequest,
  McpMethod,
  McpServerAnswers,
  McpServerEvent,
  McpServerOp,
  ServerSnapshot,
  ServerState,
} from "../../messages/actors/mcp.js";
import type { McpServerEntries, McpServerEntry } from "../../messages/settings/mcp-config.js";
import type { Ref } from "../runtime/actor.js";
import { isolateListener } from "../runtime/failures.js";
import { spawn } from "../runtime/spawn.js";
import { mcpServer, type McpServerOptions } from "./mcp-server.js";

const firstMs = 5_000;

const longestMs = 5 * 60 * 1_000;

/** Maximum number of calls at once; more wait. */
const capacity = 4_096;

export interface McpServersOptions {
  /** cody's home directory. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (text: string) => void;
  /** Called after every change of a server's state. */
  readonly onState: (snapshot: ServerSnapshot) => void;
}

/** The servers that a conversation uses while it is open. */
interface Lease {
  readonly servers: readonly SharedServer[];
  /** A server ends when the last conversation of its project releases it. */
  release(): Promise<void>;
}

interface UsedServer {
  readonly server: SharedServer;
  users: number;
}

/** The MCP servers of a manager: each server of a project runs once, shared by all its conversations. */
export class McpServers {
  readonly #options: McpServersOptions;
  readonly #used = new Map<string, UsedServer>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  lease(root: string, entries: McpServerEntries): Lease {
    const enabledEntries = Object.entries(entries).filter(([, { enabled }]) => enabled !== false);
    const redactor = new McpRedactor(entries, this.#options.env);
    // Two projects, or two configurations of one name, must not share a process.
    const keys = enabledEntries.map(([name, entry]) => {
      const key = JSON.stringify([root, name, entry]);
      const known = this.#used.get(key) ?? { server: this.#start({ name, entry, root, redactor }), users: 0 };
      known.users += 1;
      this.#used.set(key, known);
      return { key, server: known.server };
    });
    let released: Promise<void> | undefined;
    return {
      servers: keys.map(({ server }) => server),
      release: () => {
        released ??= this.#release(keys.map(({ key }) => key));
        return released;
      },
    };
  }

  /** Waits for servers that are ending; no lease may be in use any more. */
  async close(): Promise<void> {
    await this.#release([...this.#used.keys()]);
    await Promise.all(this.#stopping);
  }

  #start(server: Pick<McpServerOptions, "name" | "entry" | "root" | "redactor">): SharedServer {
    const { home, env, log, onState } = this.#options;
    const shared = new SharedServer({ ...server, home, env, log });
    shared.listen(() => onState(shared.snapshot));
    return shared;
  }

  async #release(keys: readonly string[]): Promise<void> {
    const unused = keys.flatMap((key) => {
      const used = this.#used.get(key);
      if (used === undefined || (used.users -= 1) > 0) return [];
      this.#used.delete(key);
      return [used.server];
    });
    await Promise.all(unused.map((server) => this.#stop(server)));
  }

  async #stop(server: SharedServer): Promise<void> {
    const stopping = server.stop();
    this.#stopping.add(stopping);
    try {
      await stopping;
    } finally {
      this.#stopping.delete(stopping);
    }
  }
}

/** Asks the user of the conversation that made the call. */
type Elicit = (request: ElicitationRequest) => Promise<ElicitationAnswer>;

interface ToolCall {
  readonly tool: string;
  readonly revision: string;
  readonly arguments: Record<string, unknown>;
}

/** One server, shared by all conversations of a project: its actor and its current state. */
export class SharedServer {
  readonly id = randomUUID();
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly #ref: Ref<McpServerOp, McpServerAnswers>;
  readonly #listeners = new Set<(state: ServerState) => void>();
  readonly #elicit = new Map<string, Elicit>();
  #state: ServerState = { status: "starting" };
  /** Number of changes of the state. */
  #changes = 0;
  #calls = 0;
  readonly #pause: RetryBackoff;

  constructor(options: McpServerOptions, pause = new RetryBackoff()) {
    this.#pause = pause;
    this.name = options.name;
    this.entry = options.entry;
    this.#ref = spawn(mcpServer, options, {
      capacity,
      onEvent: ({ msg }) => this.#onMessage(msg),
      onFailed: ({ message }) => this.#setState({ status: "failed", error: message }),
    });
  }

  get state(): ServerState {
    return this.#state;
  }

  get snapshot(): ServerSnapshot {
    return { serverId: this.id, number: this.#changes, state: this.#state };
  }

  /** Calls back after every change, until the returned function is called. */
  listen(listener: () => void): () => void {
    const isolated = isolateListener("mcp", listener);
    this.#listeners.add(isolated);
    return () => this.#listeners.delete(isolated);
  }

  /** Never rejects; errors are in the state. */
  async connect(): Promise<ServerState> {
    return await this.#ref.ask({ type: "connect" }).catch((error: unknown): ServerState => {
      return { status: "failed", error: errorMessage(error) };
    });
  }

  /** Reconnects a server in the background once its retry pause is over. */
  retry(): void {
    if (this.#state.status === "failed" && this.#pause.isOver) void this.connect();
  }

  async call(call: ToolCall, elicit: Elicit, signal: AbortSignal): Promise<Answered> {
    const callId = String((this.#calls += 1));
    this.#elicit.set(callId, elicit);
    try {
      return await this.#ref.ask({ type: "call", callId, ...call }, signal);
    } catch (error) {
      return { ok: false, error: signal.aborted ? "interrupted; the call was cancelled" : errorMessage(error) };
    } finally {
      this.#elicit.delete(callId);
    }
  }

  async request(method: McpMethod, params: Record<string, unknown>, signal?: AbortSignal): Promise<Answered> {
    try {
      return await this.#ref.ask({ type: "request", method, params }, signal);
    } catch (error) {
      return { ok: false, error: errorMessage(error) };
    }
  }

  /** Resolves when the server's processes and connections have ended. */
  async stop(): Promise<void> {
    await this.#ref.stop();
  }

  #onMessage(msg: McpServerEvent): void {
    if (msg.type === "state") return this.#setState(msg.state);
    void this.#answer(msg);
  }

  async #answer({ id, callId, message, schema }: Extract<McpServerEvent, { type: "elicitation" }>): Promise<void> {
    const answer = (await this.#elicit.get(callId)?.({ message, schema }).catch(cancel)) ?? cancel();
    await this.#ref.tell({ type: "elicitation_answer", id, answer }).catch(() => undefined);
  }

  #setState(state: ServerState): void {
    this.#state = state;
    this.#changes += 1;
    if (state.status === "failed") this.#pause.failed();
    if (state.status === "ready") this.#pause.worked();
    for (const listener of this.#listeners) listener(state);
  }
}

function cancel(): ElicitationAnswer {
  return { action: "cancel" };
}

/** The pause after a failure, doubled each time until the server works again. */
export class RetryBackoff {
  readonly #now: () => number;
  #ms = 0;
  #pausedUntil = -Infinity;

  /** The clock must be monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isOver(): boolean {
    return this.#now() >= this.#pausedUntil;
  }

  failed(): void {
    this.#ms = Math.min(Math.max(firstMs, this.#ms * 2), longestMs);
    this.#pausedUntil = this.#now() + this.#ms;
  }

  worked(): void {
    this.#ms = 0;
  }
}

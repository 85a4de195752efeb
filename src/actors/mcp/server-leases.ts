import { errorMessage } from "../../base/error-message.js";
import { type ProjectCommands, readProjectCommands } from "../../config/project/project-config.js";
import type {
  Answered,
  ElicitationAnswer,
  ElicitationRequest,
  McpAnswers,
  McpEvent,
  McpMethod,
  McpOp,
  ServerSnapshot,
  ServerState,
} from "../../messages/actors/mcp.js";
import type { McpServerEntries } from "../../messages/settings/mcp-config.js";
import { quotedWord } from "../../base/text/quoted-command.js";
import type { Ref } from "../runtime/actor.js";
import { isolateListener } from "../runtime/failures.js";

interface ServerLeasesOptions {
  /** The name of the thread that the leases are for. It may be used again after `client_gone`. */
  readonly client: string;
  /** cody's home directory, where trusted projects are recorded. */
  readonly home: string;
  /** The user's configured servers, used in every project. */
  readonly configured: McpServerEntries;
}

/** The servers that a conversation uses while it is open. */
export interface Lease {
  readonly servers: readonly LeasedServer[];
  /** A server ends when the last conversation of its project releases it. */
  release(): Promise<void>;
}

interface OpenedServers {
  /** Undefined when there are no servers. */
  readonly lease: Lease | undefined;
  /** A notice for the user. */
  readonly notice: string | undefined;
}

/** Asks the user of the conversation that made the call. */
type Elicit = (request: ElicitationRequest) => Promise<ElicitationAnswer>;

interface ToolCall {
  readonly tool: string;
  readonly revision: string;
  readonly arguments: Record<string, unknown>;
}

/**
 * Leases servers for the conversations of a thread: the user's own, and those of a project once the user trusts it. The
 * servers themselves are reached through the mcp actor.
 */
export class ServerLeases {
  readonly #ref: Ref<McpOp, McpAnswers>;
  readonly #options: ServerLeasesOptions;
  /** Conversations that are opened together read their project's servers once. */
  readonly #lookups = new Map<string, Promise<ProjectCommands>>();
  /** The state of each leased server, by its id. */
  readonly #states = new Map<string, SharedState>();
  /** The callers to ask during their calls, by call id. */
  readonly #elicit = new Map<string, Elicit>();
  #leases = 0;
  #calls = 0;

  constructor(ref: Ref<McpOp, McpAnswers>, options: ServerLeasesOptions) {
    this.#ref = ref;
    this.#options = options;
  }

  /** Reads the commands of a project, by the real path of its root. Projects that are opened together are read once. */
  project(realRoot: string): Promise<ProjectCommands> {
    const known = this.#lookups.get(realRoot);
    if (known !== undefined) return known;
    const lookup = readProjectCommands(this.#options.home, realRoot).finally(() => this.#lookups.delete(realRoot));
    this.#lookups.set(realRoot, lookup);
    return lookup;
  }

  /** Opens the servers for a project. */
  async open(project: ProjectCommands): Promise<OpenedServers> {
    const entries = { ...this.#options.configured, ...(project.isAllowed ? project.servers : {}) };
    const isBroken = project.trust === "trusted" && project.problem !== undefined;
    const notice = isBroken ? project.problem : unusedNotice(project);
    if (Object.values(entries).every(({ enabled }) => enabled === false)) return { lease: undefined, notice };
    return { lease: await this.#lease(project.root, entries), notice };
  }

  /** Receives the events of the mcp actor; those for other threads have no effect. */
  receive(event: McpEvent): void {
    if (event.type === "server_state") this.#states.get(event.serverId)?.update(event);
    else void this.#answer(event);
  }

  async #lease(root: string, entries: McpServerEntries): Promise<Lease> {
    const { client } = this.#options;
    const leaseId = `${client}:${(this.#leases += 1)}`;
    const snapshots = await this.#ref.ask({ type: "lease", leaseId, client, root, entries });
    const servers = snapshots.map(
      ({ name, ...snapshot }) =>
        new LeasedServer(this.#ref, {
          leaseId,
          name,
          state: this.#state(snapshot),
          beginCall: (elicit) => this.#beginCall(elicit),
        }),
    );
    // Only the ids are kept: the snapshots may be copies of long lists of tools.
    const serverIds = snapshots.map(({ serverId }) => serverId);
    let released: Promise<void> | undefined;
    return {
      servers,
      release: () => {
        released ??= this.#release(leaseId, serverIds);
        return released;
      },
    };
  }

  #state(snapshot: ServerSnapshot): SharedState {
    const state = this.#states.get(snapshot.serverId) ?? new SharedState(snapshot);
    this.#states.set(snapshot.serverId, state);
    state.users += 1;
    state.update(snapshot);
    return state;
  }

  async #release(leaseId: string, serverIds: readonly string[]): Promise<void> {
    for (const serverId of serverIds) {
      const state = this.#states.get(serverId);
      if (state !== undefined && (state.users -= 1) === 0) this.#states.delete(serverId);
    }
    // If the actor has stopped, so have its servers.
    await this.#ref.ask({ type: "release", leaseId }).catch(() => undefined);
  }

  #beginCall(elicit: Elicit): { readonly callId: string } & Disposable {
    const callId = `${this.#options.client}:${(this.#calls += 1)}`;
    this.#elicit.set(callId, elicit);
    return { callId, [Symbol.dispose]: () => this.#elicit.delete(callId) };
  }

  async #answer({ leaseId, callId, elicitationId, message, schema }: Elicitation): Promise<void> {
    const elicit = this.#elicit.get(callId);
    if (elicit === undefined) return;
    const answer = await elicit({ message, schema }).catch((): ElicitationAnswer => ({ action: "cancel" }));
    await this.#ref.tell({ type: "elicitation_answer", leaseId, elicitationId, answer }).catch(() => undefined);
  }
}

type Elicitation = Extract<McpEvent, { type: "elicitation" }>;

/** The last known state of a server. All leases of a thread share it, because a list of tools can be long. */
class SharedState {
  /** Number of leases. */
  users = 0;
  readonly #listeners = new Set<(state: ServerState) => void>();
  #snapshot: ServerSnapshot;

  constructor(snapshot: ServerSnapshot) {
    this.#snapshot = snapshot;
  }

  get snapshot(): ServerSnapshot {
    return this.#snapshot;
  }

  /** Answers may arrive after newer events. */
  update(snapshot: ServerSnapshot): void {
    if (snapshot.number <= this.#snapshot.number) return;
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener(snapshot.state);
  }

  listen(listener: () => void): () => void {
    const isolated = isolateListener("mcp", listener);
    this.#listeners.add(isolated);
    return () => this.#listeners.delete(isolated);
  }
}

interface LeasedServerParts {
  readonly leaseId: string;
  readonly name: string;
  readonly state: SharedState;
  /** Registers a call until it is disposed. */
  readonly beginCall: (elicit: Elicit) => { readonly callId: string } & Disposable;
}

/** One server of a lease. */
export class LeasedServer {
  readonly name: string;
  readonly #ref: Ref<McpOp, McpAnswers>;
  readonly #parts: LeasedServerParts;
  /** Why the actor could not be asked to connect. */
  #unreachable: string | undefined;

  constructor(ref: Ref<McpOp, McpAnswers>, parts: LeasedServerParts) {
    this.#ref = ref;
    this.#parts = parts;
    this.name = parts.name;
  }

  get state(): ServerState {
    if (this.#unreachable !== undefined) return { status: "failed", error: this.#unreachable };
    return this.#parts.state.snapshot.state;
  }

  /** Calls back after every change, until the returned function is called. */
  listen(listener: () => void): () => void {
    return this.#parts.state.listen(listener);
  }

  /** Resolves when the server is ready or has failed; never rejects, errors are in the state. */
  async connect(): Promise<void> {
    try {
      this.#parts.state.update(await this.#ref.ask({ type: "connect", ...this.#address }));
      this.#unreachable = undefined;
    } catch (error) {
      this.#unreachable = errorMessage(error);
    }
  }

  /** Reconnects a failed server in the background once its retry pause is over. */
  retry(): void {
    if (this.state.status !== "failed") return;
    void this.#ref.tell({ type: "retry", ...this.#address }).catch(() => undefined);
  }

  async call(call: ToolCall, elicit: Elicit, signal: AbortSignal): Promise<Answered> {
    using running = this.#parts.beginCall(elicit);
    const { callId } = running;
    try {
      return await this.#ref.ask({ type: "call", ...this.#address, callId, ...call }, signal);
    } catch (error) {
      return { ok: false, error: signal.aborted ? "interrupted; the call was cancelled" : errorMessage(error) };
    }
  }

  async request(method: McpMethod, params: Record<string, unknown>, signal?: AbortSignal): Promise<Answered> {
    try {
      return await this.#ref.ask({ type: "request", ...this.#address, method, params }, signal);
    } catch (error) {
      return { ok: false, error: errorMessage(error) };
    }
  }

  get #address(): { leaseId: string; serverId: string } {
    return { leaseId: this.#parts.leaseId, serverId: this.#parts.state.snapshot.serverId };
  }
}

/** A user who has explicitly distrusted the project needs no notice. */
function unusedNotice({ trust, isChanged, servers, root }: ProjectCommands): string | undefined {
  const names = Object.keys(servers);
  if ((trust !== undefined && !isChanged) || names.length === 0) return undefined;
  const why = isChanged ? "you have not trusted them as they are now" : "the project is not trusted";
  const what = `This project's MCP servers (${names.join(", ")}) are not started, because ${why}`;
  return `${what}. See: cody mcp list. To trust ${isChanged ? "them" : "it"}: cody trust ${quotedWord(root)}`;
}

import type { ServerState } from "../../messages/actors/mcp.js";
import type { MirrorChange } from "../../messages/actors/conversation.js";
import type { McpServerTools } from "../../messages/tools/mcp.js";
import type { ConversationServers } from "./conversation-servers.js";

/** The servers of a conversation, as it has published them. */
type UsedServers = NonNullable<Extract<MirrorChange, { type: "opened" }>["servers"]>;

interface HandleServersParts {
  /** Undefined when the conversation has no servers. */
  readonly used: () => UsedServers | undefined;
  readonly isAwake: () => boolean;
  /** Wakes the conversation and keeps it awake while the work runs. */
  awake<T>(work: () => Promise<T>): Promise<T>;
  /** Leases the servers of a project, by the real path of its root; returns undefined when there are none any more. */
  open(root: string): Promise<ConversationServers | undefined>;
}

interface OwnLease {
  readonly root: string;
  readonly opened: Promise<ConversationServers | undefined>;
  servers?: ConversationServers | undefined;
}

/**
 * The MCP servers of a conversation, in the thread of its handle: with a lease of its own, because the conversation may
 * run in another thread. It is taken when it is first needed, and released when the conversation sleeps or ends.
 */
export class HandleServers {
  readonly #parts: HandleServersParts;
  #lease: OwnLease | undefined;

  constructor(parts: HandleServersParts) {
    this.#parts = parts;
  }

  /** The servers and their states; "starting" while a state is not known here. */
  get servers(): readonly { readonly name: string; readonly state: ServerState }[] {
    if (this.#parts.isAwake()) void this.#open().catch(() => undefined);
    const names = this.#parts.used()?.names ?? [];
    return this.#lease?.servers?.servers ?? names.map((name) => ({ name, state: { status: "starting" } }));
  }

  /** Resolves when every server is ready or has failed, or when the signal aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#parts.awake(() => this.#ready(signal));
  }

  /** Asks the servers now for their resources, templates and prompts, and lists them with their tools. */
  async describe(signal: AbortSignal): Promise<McpServerTools> {
    return await this.#parts.awake(async () => {
      const servers = await this.#ready(signal);
      return (await servers?.describe(signal)) ?? { tools: {}, resources: {}, resource_templates: {}, prompts: {} };
    });
  }

  /** Returns the text of a server's prompt. */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): ReturnType<ConversationServers["prompt"]> {
    return await this.#parts.awake(async () => {
      const servers = await this.#open();
      return (await servers?.prompt(server, name, args, signal)) ?? { ok: false, error: "server not found" };
    });
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await (await lease?.opened.catch(() => undefined))?.release();
  }

  async #ready(signal: AbortSignal): Promise<ConversationServers | undefined> {
    const servers = await this.#open();
    await servers?.ready(signal);
    return servers;
  }

  #open(): Promise<ConversationServers | undefined> {
    const { root } = this.#parts.used() ?? {};
    if (root === undefined) return Promise.resolve(undefined);
    if (this.#lease?.root === root) return this.#lease.opened;
    // The conversation was opened again in another project.
    void this.release();
    const lease: OwnLease = { root, opened: this.#parts.open(root) };
    this.#lease = lease;
    void this.#begin(lease);
    return lease.opened;
  }

  async #begin(lease: OwnLease): Promise<void> {
    try {
      lease.servers = await lease.opened;
      // The conversation itself reports the start.
      lease.servers?.begin(() => undefined);
    } catch {
      // The callers get the error, and the next one tries again.
      if (this.#lease === lease) this.#lease = undefined;
    }
  }
}

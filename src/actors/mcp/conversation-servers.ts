import type { EventMsg } from "../../messages/event.js";
import type { McpServerTools, McpStartupStatus } from "../../messages/mcp.js";
import type { ToolSpec } from "../../messages/tool.js";
import { toolSpec } from "../../tools/tool-spec.js";
import type { Tool } from "../../tools/tool.js";
import { within } from "../../base/time/within.js";
import type { Lease } from "./mcp-servers.js";
import { maxTools } from "./listed-tools.js";
import type { Answered } from "./mcp-server.js";
import { promptText } from "./call-output.js";
import { resourceTools } from "./resource-tools.js";
import { serverTool } from "./server-tool.js";
import type { SharedServer } from "./shared-server.js";
import { toolName } from "./tool-names.js";

type Publish = (msg: EventMsg) => void;

/** What a conversation has of its servers at one time. */
interface Offered {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly specs: readonly ToolSpec[];
}

/** The servers of one conversation: how they start, and their tools under names of its own. */
export class ConversationServers {
  readonly #lease: Lease;
  readonly #own: ReadonlySet<string>;
  readonly #ownSpecs: () => readonly ToolSpec[];
  readonly #unlisten: readonly (() => void)[];
  readonly #told = new Map<string, McpStartupStatus>();
  readonly #resourceTools: readonly Tool[];
  #publish: Publish | undefined;
  #starting: Promise<void> | undefined;
  #isStarted = false;
  #offered: Offered | undefined;

  /** `own` are the tools a conversation has without servers. */
  constructor(lease: Lease, own: { readonly names: Iterable<string>; readonly specs: () => readonly ToolSpec[] }) {
    this.#lease = lease;
    this.#own = new Set(own.names);
    this.#ownSpecs = own.specs;
    this.#resourceTools = resourceTools(() => this.#withResources());
    this.#unlisten = lease.servers.map((server) => server.listen(() => this.#changed(server)));
  }

  get servers(): readonly SharedServer[] {
    return this.#lease.servers;
  }

  /** Starts what has not been started; later calls only say who is told. */
  begin(publish: Publish): void {
    this.#publish = publish;
    this.#starting ??= this.#start();
  }

  /**
   * Resolves when every server has been ready or has failed, or when the signal ends it. That is waited for once: later
   * one that has failed is tried again beside the turn, and one that was lost is found again by the call that needs it.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.#isStarted) for (const server of this.servers) server.retry();
    else if (this.#starting !== undefined) await within(this.#starting, longestStartMs, signal);
  }

  tool(name: string): Tool | undefined {
    return this.#current().tools.get(name);
  }

  /** All tools of the conversation as the model is told of them: the same list until something changes. */
  get specs(): readonly ToolSpec[] {
    return this.#current().specs;
  }

  /** What they have, asked for now. */
  async describe(signal: AbortSignal): Promise<McpServerTools> {
    const list = async (method: string, field: string, servers: readonly SharedServer[]) =>
      Object.fromEntries(
        await Promise.all(
          servers.map(async (server) => [server.name, listIn(await server.ask(method, {}, signal), field)] as const),
        ),
      );
    const withResources = this.#withResources();
    const withPrompts = this.servers.filter(({ state }) => "offers" in state && state.offers.prompts);
    const [resources, resource_templates, prompts] = await Promise.all([
      list("resources/list", "resources", withResources),
      list("resources/templates/list", "resourceTemplates", withResources),
      list("prompts/list", "prompts", withPrompts),
    ]);
    const tools = this.specs
      .filter(({ name }) => !this.#own.has(name))
      .map(({ name, description, parameters }) => [name, { name, description, inputSchema: parameters }] as const);
    return { tools: Object.fromEntries(tools), resources, resource_templates, prompts };
  }

  /** What a prompt of a server says, as text. */
  async prompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string }> {
    const asked = this.servers.find((each) => each.name === server);
    if (asked === undefined) return { ok: false, error: "there is no such server" };
    const answered = await asked.ask("prompts/get", { name, arguments: given }, signal);
    return answered.ok ? { ok: true, text: promptText(answered.value) } : answered;
  }

  async release(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten();
    await this.#lease.release();
  }

  async #start(): Promise<void> {
    await Promise.all(
      this.servers.map(async (server) => {
        this.#tell(server.name, { state: "starting" });
        await server.connect();
        this.#changed(server);
      }),
    );
    this.#isStarted = true;
    const ends = [...this.#told];
    this.#publish?.({
      type: "mcp_startup_complete",
      ready: ends.flatMap(([server, { state }]) => (state === "ready" ? [server] : [])),
      failed: ends.flatMap(([server, end]) => (end.state === "failed" ? [{ server, error: end.error }] : [])),
      cancelled: [],
    });
  }

  #changed({ name, state }: SharedServer): void {
    this.#offered = undefined;
    if (this.#starting === undefined) return;
    if (state.status === "ready") this.#tell(name, { state: "ready" });
    if (state.status === "failed") this.#tell(name, { state: "failed", error: state.error });
  }

  /** Each state once. */
  #tell(server: string, status: McpStartupStatus): void {
    const before = this.#told.get(server);
    if (before?.state === status.state) return;
    this.#told.set(server, status);
    this.#publish?.({ type: "mcp_startup_update", server, status });
  }

  #withResources(): readonly SharedServer[] {
    return this.servers.filter(({ state }) => "offers" in state && state.offers.resources);
  }

  #current(): Offered {
    this.#offered ??= this.#offer();
    return this.#offered;
  }

  #offer(): Offered {
    const tools = new Map<string, Tool>();
    const specs: ToolSpec[] = [];
    const taken = new Set(this.#own);
    for (const server of this.servers) {
      for (const listed of "tools" in server.state ? server.state.tools : []) {
        if (tools.size === maxTools) break;
        const name = toolName(server.name, listed.name, taken);
        taken.add(name);
        tools.set(name, serverTool(name, server, listed));
        specs.push({ name, description: listed.description, parameters: { ...listed.inputSchema } });
      }
    }
    const readers = this.#withResources().length > 0 ? this.#resourceTools : [];
    for (const tool of readers) {
      if (taken.has(tool.name)) continue;
      tools.set(tool.name, tool);
      specs.push(toolSpec(tool));
    }
    return { tools, specs: [...this.#ownSpecs(), ...specs] };
  }
}

/** Each server has a deadline of its own; this is for what goes wrong with those. */
const longestStartMs = 24 * 60 * 60 * 1_000;

function listIn(answered: Answered, field: string): unknown[] {
  const { [field]: listed } = Object(answered.ok ? answered.value : {}) as Record<string, unknown>;
  return Array.isArray(listed) ? (listed as unknown[]) : [];
}

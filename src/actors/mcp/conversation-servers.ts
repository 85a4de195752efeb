import * as z from "zod";
import { shortened } from "../../base/text/truncate.js";
import { within } from "../../base/time/waiting.js";
import type {
  Answered,
  ElicitationAnswer,
  ElicitationRequest,
  ListedTool,
  McpMethod,
} from "../../messages/actors/mcp.js";
import { isApproval } from "../../messages/tools/approval.js";
import type { EventMsg } from "../../messages/event.js";
import type { McpServerTools, McpStartupStatus, McpToolResult } from "../../messages/tools/mcp.js";
import type { ToolSpec, ToolOutput } from "../../messages/tools/tool.js";
import { defineTool, toolSpec } from "../../tools/define-tool.js";
import type { Tool, ToolContext } from "../../tools/tool.js";
import { promptText, jsonText, resultOutput, callResult, shortenedResult } from "./call-output.js";
import { defaultAnswers } from "./running-calls.js";
import { maxTools, toolName } from "./listed-tools.js";
import type { Lease, LeasedServer } from "./server-leases.js";

const maxMessageChars = 4_000;

const maxSchemaChars = 4_000;

const maxListedChars = 256 * 1024;

const ListArguments = z.strictObject({
  server: z.string().optional().describe("List only this server; all servers if omitted."),
  cursor: z.string().optional().describe("The nextCursor of this server's previous list."),
});

const ReadArguments = z.strictObject({ server: z.string(), uri: z.string().describe("The URI from the list.") });

/** A safety net: each server has its own, shorter deadline. */
const longestStartMs = 24 * 60 * 60 * 1_000;

type Publish = (msg: EventMsg) => void;

/** The tools that a conversation's servers offer at one moment. */
interface Offered {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly specs: readonly ToolSpec[];
}

/** The MCP servers of one conversation: their start, and their tools under names unique in the conversation. */
export class ConversationServers {
  readonly #lease: Lease;
  readonly #toolNames: ReadonlySet<string>;
  readonly #ownSpecs: () => readonly ToolSpec[];
  readonly #unlisten: readonly (() => void)[];
  readonly #statuses = new Map<string, McpStartupStatus>();
  readonly #resourceTools: readonly Tool[];
  #publish: Publish | undefined;
  #starting: Promise<void> | undefined;
  #isStarted = false;
  #offered: Offered | undefined;

  /** `own` are the conversation's tools that do not come from servers. */
  constructor(lease: Lease, own: { readonly names: Iterable<string>; readonly specs: () => readonly ToolSpec[] }) {
    this.#lease = lease;
    this.#toolNames = new Set(own.names);
    this.#ownSpecs = own.specs;
    this.#resourceTools = resourceTools(() => this.#withResources());
    this.#unlisten = lease.servers.map((server) => server.listen(() => this.#changed(server)));
  }

  get servers(): readonly LeasedServer[] {
    return this.#lease.servers;
  }

  /** Starts the servers on the first call; later calls only replace `publish`. */
  begin(publish: Publish): void {
    this.#publish = publish;
    this.#starting ??= this.#start();
  }

  /**
   * Resolves when every server is ready or has failed, or when the signal aborts. Only the first start is awaited:
   * later, a failed server is retried beside the turn, and a lost one is reconnected by the call that needs it.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.#isStarted) for (const server of this.servers) server.retry();
    else if (this.#starting !== undefined) await within(this.#starting, longestStartMs, signal);
  }

  tool(name: string): Tool | undefined {
    return this.#current().tools.get(name);
  }

  /** The specs of all tools of the conversation; the same array until something changes. */
  get specs(): readonly ToolSpec[] {
    return this.#current().specs;
  }

  /** Asks the servers now for their resources, templates and prompts, and lists them with their tools. */
  async describe(signal: AbortSignal): Promise<McpServerTools> {
    const list = async (method: McpMethod, field: string, servers: readonly LeasedServer[]) =>
      Object.fromEntries(
        await Promise.all(
          servers.map(
            async (server) => [server.name, listIn(await server.request(method, {}, signal), field)] as const,
          ),
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
      .filter(({ name }) => !this.#toolNames.has(name))
      .map(({ name, description, parameters }) => [name, { name, description, inputSchema: parameters }] as const);
    return { tools: Object.fromEntries(tools), resources, resource_templates, prompts };
  }

  /** Returns the text of a server's prompt. */
  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string }> {
    const found = this.servers.find((each) => each.name === server);
    if (found === undefined) return { ok: false, error: "server not found" };
    const answered = await found.request("prompts/get", { name, arguments: args }, signal);
    return answered.ok ? { ok: true, text: promptText(answered.value) } : answered;
  }

  async release(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten();
    await this.#lease.release();
  }

  async #start(): Promise<void> {
    await Promise.all(
      this.servers.map(async (server) => {
        this.#reportStatus(server.name, { state: "starting" });
        await server.connect();
        this.#changed(server);
      }),
    );
    this.#isStarted = true;
    const ends = [...this.#statuses];
    this.#publish?.({
      type: "mcp_startup_complete",
      ready: ends.flatMap(([server, { state }]) => (state === "ready" ? [server] : [])),
      failed: ends.flatMap(([server, end]) => (end.state === "failed" ? [{ server, error: end.error }] : [])),
      cancelled: [],
    });
  }

  #changed({ name, state }: LeasedServer): void {
    this.#offered = undefined;
    if (this.#starting === undefined) return;
    if (state.status === "ready") this.#reportStatus(name, { state: "ready" });
    if (state.status === "failed") this.#reportStatus(name, { state: "failed", error: state.error });
  }

  /** Publishes each state only once. */
  #reportStatus(server: string, status: McpStartupStatus): void {
    const before = this.#statuses.get(server);
    if (before?.state === status.state) return;
    this.#statuses.set(server, status);
    this.#publish?.({ type: "mcp_startup_update", server, status });
  }

  #withResources(): readonly LeasedServer[] {
    return this.servers.filter(({ state }) => "offers" in state && state.offers.resources);
  }

  #current(): Offered {
    this.#offered ??= this.#offer();
    return this.#offered;
  }

  #offer(): Offered {
    const tools = new Map<string, Tool>();
    const specs: ToolSpec[] = [];
    const usedNames = new Set(this.#toolNames);
    for (const server of this.servers) {
      for (const listed of "tools" in server.state ? server.state.tools : []) {
        if (tools.size === maxTools) break;
        const name = toolName(server.name, listed.name, usedNames);
        usedNames.add(name);
        tools.set(name, serverTool(name, server, listed));
        specs.push({ name, description: listed.description, parameters: { ...listed.inputSchema } });
      }
    }
    const readers = this.#withResources().length > 0 ? this.#resourceTools : [];
    for (const tool of readers) {
      if (usedNames.has(tool.name)) continue;
      tools.set(tool.name, tool);
      specs.push(toolSpec(tool));
    }
    return { tools, specs: [...this.#ownSpecs(), ...specs] };
  }
}

function listIn(answered: Answered, field: string): unknown[] {
  const { [field]: listed } = Object(answered.ok ? answered.value : {}) as Record<string, unknown>;
  return Array.isArray(listed) ? (listed as unknown[]) : [];
}

/** Codex's tools for reading MCP resources. */
function resourceTools(servers: () => readonly LeasedServer[]): readonly Tool[] {
  const lister = (name: string, what: string, method: McpMethod, field: string): Tool<z.infer<typeof ListArguments>> =>
    defineTool({
      name,
      description: `Lists the ${what} that MCP servers offer.`,
      parameters: ListArguments,
      readOnly: true,
      run: async ({ server, cursor }, { signal }) => {
        const selected = servers().filter(({ name: each }) => server === undefined || each === server);
        if (server !== undefined && selected.length === 0) return unknownServer(server);
        const params = cursor === undefined || server === undefined ? {} : { cursor };
        const lists = await Promise.all(
          selected.map(async (each) => listOf(each.name, await each.request(method, params, signal), field)),
        );
        return {
          content: shortened(jsonText(lists), maxListedChars),
          success: lists.every((list) => !("error" in list)),
        };
      },
    });
  return [
    lister("list_mcp_resources", "resources", "resources/list", "resources"),
    lister("list_mcp_resource_templates", "resource templates", "resources/templates/list", "resourceTemplates"),
    defineTool({
      name: "read_mcp_resource",
      description: "Reads a resource of an MCP server.",
      parameters: ReadArguments,
      run: async ({ server, uri }, { signal }) => {
        const found = servers().find(({ name }) => name === server);
        if (found === undefined) return unknownServer(server);
        const answered = await found.request("resources/read", { uri }, signal);
        if (!answered.ok) return { content: `MCP server ${server}: ${answered.error}`, success: false };
        const { contents } = Object(answered.value) as { readonly contents?: unknown };
        const parts = Array.isArray(contents)
          ? contents.map((resource: unknown) => ({ type: "resource", resource }))
          : [];
        return resultOutput({ content: parts });
      },
    }),
  ] as readonly Tool[];
}

function listOf(server: string, answered: Answered, field: string): Record<string, unknown> {
  if (!answered.ok) return { server, error: answered.error };
  const { [field]: listed, nextCursor } = Object(answered.value) as Record<string, unknown>;
  return { server, [field]: Array.isArray(listed) ? listed : [], ...(nextCursor === undefined ? {} : { nextCursor }) };
}

function unknownServer(server: string): ToolOutput {
  return { content: `no MCP server named ${shortened(server, 100)} with resources`, success: false };
}

type Args = Record<string, unknown>;

/** Wraps a server's tool for a conversation. A server's claim that a tool is read-only is not trusted. */
function serverTool(name: string, server: LeasedServer, listed: ListedTool): Tool<Args> {
  const { name: tool, description, revision } = listed;
  return {
    name,
    description,
    // The server validates arguments: its schema is shown to the model and never executed here.
    parameters: z.record(z.string(), z.unknown()),
    readOnly: false,
    revision,
    command: (args, { cwd }) => ({ argv: [name, JSON.stringify(args)], cwd }),
    run: async (args, context) => {
      const invocation = { server: server.name, tool, arguments: args };
      const startedAt = performance.now();
      context.emit({ type: "mcp_tool_call_begin", call_id: context.callId, invocation });
      const answered = await server.call(
        { tool, revision, arguments: args },
        (request) => elicit(server.name, request, context),
        context.signal,
      );
      const { output, result } = outcomeOf(server.name, answered);
      const duration = durationOf(performance.now() - startedAt);
      context.emit({ type: "mcp_tool_call_end", call_id: context.callId, invocation, duration, result });
      return output;
    },
  };
}

function outcomeOf(server: string, answered: Answered): { output: ToolOutput; result: McpToolResult } {
  const result = answered.ok ? callResult(answered.value) : undefined;
  if (result !== undefined) return { output: resultOutput(result), result: { Ok: shortenedResult(result) } };
  const error = `MCP server ${server}: ${answered.ok ? "its answer is not a valid result" : answered.error}`;
  return { output: { content: error, success: false }, result: { Err: error } };
}

/** Asks the user as for a command: they see the server and its question, and answer yes or no. */
async function elicit(
  server: string,
  { message, schema }: ElicitationRequest,
  context: ToolContext,
): Promise<ElicitationAnswer> {
  const values = defaultAnswers(schema);
  const command = [`mcp__${server}`, message.slice(0, maxMessageChars), schemaText(schema)];
  const reason =
    values === undefined
      ? `the MCP server ${server} asks for values that cannot be entered here; it gets none, whatever you answer`
      : `the MCP server ${server} asks this during the call; yes sends it ${JSON.stringify(values)}`;
  const decision = await context.ask?.({ argv: command, cwd: context.cwd }, reason);
  if (!isApproval(decision)) return { action: decision === "abort" ? "cancel" : "decline" };
  return values === undefined ? { action: "cancel" } : { action: "accept", content: values };
}

function schemaText(schema: unknown): string {
  try {
    return (JSON.stringify(Object(schema)["properties"] ?? {}) ?? "{}").slice(0, maxSchemaChars);
  } catch {
    return "{}";
  }
}

function durationOf(ms: number): { secs: number; nanos: number } {
  const secs = Math.floor(ms / 1_000);
  return { secs, nanos: Math.floor((ms - secs * 1_000) * 1_000_000) };
}

import { SharedServer } from "../../../../actors/mcp/mcp-servers.js";
import { McpRedactor } from "../../../../config/secrets/mcp-redactor.js";
import type { McpMethod, ServerState } from "../../../../messages/actors/mcp.js";
import { shortened } from "../../../../base/text/truncate.js";
import { visible } from "../../../../base/text/visible.js";
import { counted } from "../../../format.js";
import { CommandError, exitCodes } from "../../../command-error.js";
import { type CommandContext, printResult } from "../../../context.js";
import { watchSignals } from "../../../terminal/interruption.js";
import { type KnownServer, loadServers } from "./known-servers.js";

const maxShownChars = 100;
const maxNamesChars = 400;

interface Tested {
  readonly name: string;
  readonly state: ServerState;
  readonly resources: readonly string[];
  readonly prompts: readonly string[];
}

/** Starts one server, or all that a conversation would start, and lists their tools, prompts and resources. */
export async function testServers(context: CommandContext, name: string | undefined): Promise<number> {
  const { servers, root } = await loadServers(context);
  const chosen = servers.filter((server) => (name === undefined ? server.status === "on" : server.name === name));
  const [first] = chosen;
  if (first === undefined) {
    const message = name === undefined ? "No MCP servers" : `MCP server '${name}' not found`;
    throw new CommandError(message, exitCodes.failed, ["See: cody mcp list"]);
  }
  if (first.status === "not trusted") {
    throw new CommandError(`${first.name} is a server of this project, which is not trusted`, 1, [
      "To trust it: cody trust",
    ]);
  }
  using interruption = watchSignals(context.terminal);
  const tested = await Promise.all(chosen.map((server) => testServer(context, server, root, interruption.signal)));
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  await printResult(context, { text: tested.map(textOf).join("\n"), json: tested.map(jsonOf) });
  return tested.every(({ state }) => state.status === "ready") ? 0 : exitCodes.failed;
}

async function testServer(
  context: CommandContext,
  { name, entry }: KnownServer,
  root: string,
  signal: AbortSignal,
): Promise<Tested> {
  const { env } = context.terminal;
  const { home } = context;
  const redactor = new McpRedactor({ [name]: entry }, env);
  const server = new SharedServer({ name, entry, root, home, env, redactor, log: (text) => context.log("info", text) });
  const stop = (): void => void server.stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const state = await server.connect();
    const offers = "offers" in state ? state.offers : { resources: false, prompts: false };
    const list = async (method: McpMethod, field: string): Promise<string[]> => {
      const answered = await server.request(method, {}, signal);
      const { [field]: listed } = Object(answered.ok ? answered.value : {}) as Record<string, unknown>;
      return Array.isArray(listed) ? listed.map((each) => String(Object(each)["uri"] ?? Object(each)["name"])) : [];
    };
    return {
      name,
      state,
      resources: offers.resources ? await list("resources/list", "resources") : [],
      prompts: offers.prompts ? await list("prompts/list", "prompts") : [],
    };
  } finally {
    signal.removeEventListener("abort", stop);
    await server.stop();
  }
}

function textOf({ name, state, resources, prompts }: Tested): string {
  if (state.status === "failed") return `✗ ${name}: ${visible(state.error)}`;
  if (!("tools" in state)) return `✗ ${name}: ${state.status}`;
  const counts = [
    counted(state.tools.length, "tool"),
    counted(resources.length, "resource"),
    counted(prompts.length, "prompt"),
  ];
  return [
    `✓ ${name}: ${counts.join(", ")}`,
    ...state.tools.map((tool) => `    ${shortened(visible(`${tool.name}  ${tool.description}`), maxShownChars)}`),
    ...named("prompts", prompts),
    ...named("resources", resources),
    ...state.leftOut.map((text) => `  left out: ${text}`),
  ].join("\n");
}

/** On one line, because tools are the main purpose of a server. */
function named(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`  ${what}: ${shortened(visible(names.join(", ")), maxNamesChars)}`];
}

function jsonOf({ name, state, resources, prompts }: Tested): unknown {
  if (!("tools" in state)) return { name, ...state };
  const tools = state.tools.map((tool) => ({ name: tool.name, description: tool.description }));
  return { name, status: state.status, tools, leftOut: state.leftOut, resources, prompts };
}

import * as z from "zod";
import type { ReviewDecision } from "../../messages/approval.js";
import type { McpToolResult } from "../../messages/mcp.js";
import type { ToolOutput } from "../../messages/tool.js";
import type { Tool, ToolContext } from "../../tools/tool.js";
import { callResult, resultOutput, toldResult } from "./call-output.js";
import { type Elicited, type ElicitationAnswer, valuesOfYes } from "./elicitation.js";
import type { ListedTool } from "./listed-tools.js";
import type { Answered } from "./mcp-server.js";
import type { SharedServer } from "./shared-server.js";

type Args = Record<string, unknown>;

const maxMessageChars = 4_000;
const maxSchemaChars = 4_000;

/** A tool of a server as a conversation has it. That it says of itself that it changes nothing is not believed. */
export function serverTool(name: string, server: SharedServer, listed: ListedTool): Tool<Args> {
  const { name: tool, description, revision } = listed;
  return {
    name,
    description,
    // The server checks them: its schema is told to the model and never run here.
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
  if (result !== undefined) return { output: resultOutput(result), result: { Ok: toldResult(result) } };
  const error = `MCP server ${server}: ${answered.ok ? "what it answered is no result" : answered.error}`;
  return { output: { content: error, success: false }, result: { Err: error } };
}

/** A person is asked as for a command: they see who asks and for what, and say yes or no. */
async function elicit(server: string, { message, schema }: Elicited, context: ToolContext): Promise<ElicitationAnswer> {
  const values = valuesOfYes(schema);
  const asked = [`mcp__${server}`, message.slice(0, maxMessageChars), schemaText(schema)];
  const reason =
    values === undefined
      ? `the MCP server ${server} asks for values that cannot be typed here; whatever you say, it gets none`
      : `the MCP server ${server} asks this while it works; a yes sends it ${JSON.stringify(values)}`;
  const decision = await context.ask?.({ argv: asked, cwd: context.cwd }, reason);
  if (!isYes(decision)) return { action: decision === "abort" ? "cancel" : "decline" };
  return values === undefined ? { action: "cancel" } : { action: "accept", content: values };
}

function isYes(decision: ReviewDecision | undefined): boolean {
  return decision === "approved" || decision === "approved_for_session";
}

function schemaText(schema: unknown): string {
  try {
    return (JSON.stringify(Object(schema)["properties"] ?? {}) ?? "{}").slice(0, maxSchemaChars);
  } catch {
    return "{}";
  }
}

export function durationOf(ms: number): { secs: number; nanos: number } {
  const secs = Math.floor(ms / 1_000);
  return { secs, nanos: Math.floor((ms - secs * 1_000) * 1_000_000) };
}

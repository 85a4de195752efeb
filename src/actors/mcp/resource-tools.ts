import * as z from "zod";
import { shortened } from "../../base/text/shortened.js";
import type { ToolOutput } from "../../messages/tool.js";
import { defineTool } from "../../tools/define-tool.js";
import type { Tool } from "../../tools/tool.js";
import { jsonText, resultOutput } from "./call-output.js";
import type { Answered } from "./mcp-server.js";
import type { SharedServer } from "./shared-server.js";

const maxListedChars = 256 * 1024;

const ListArguments = z.strictObject({
  server: z.string().optional().describe("Only of this server; of all without it."),
  cursor: z.string().optional().describe("Where a list of this server goes on, as its nextCursor said."),
});
const ReadArguments = z.strictObject({ server: z.string(), uri: z.string().describe("As it was listed.") });

/** Codex's tools for what servers have to read. */
export function resourceTools(servers: () => readonly SharedServer[]): readonly Tool[] {
  const lister = (name: string, what: string, method: string, field: string): Tool<z.infer<typeof ListArguments>> =>
    defineTool({
      name,
      description: `Lists ${what} of the MCP servers: what they have to read.`,
      parameters: ListArguments,
      readOnly: true,
      run: async ({ server, cursor }, { signal }) => {
        const asked = servers().filter(({ name: each }) => server === undefined || each === server);
        if (server !== undefined && asked.length === 0) return unknownServer(server);
        const params = cursor === undefined || server === undefined ? {} : { cursor };
        const lists = await Promise.all(
          asked.map(async (each) => listOf(each.name, await each.ask(method, params, signal), field)),
        );
        return {
          content: shortened(jsonText(lists), maxListedChars),
          success: lists.every((list) => !("error" in list)),
        };
      },
    });
  return [
    lister("list_mcp_resources", "the resources", "resources/list", "resources"),
    lister("list_mcp_resource_templates", "the patterns of resources", "resources/templates/list", "resourceTemplates"),
    defineTool({
      name: "read_mcp_resource",
      description: "Reads a resource of an MCP server.",
      parameters: ReadArguments,
      run: async ({ server, uri }, { signal }) => {
        const asked = servers().find(({ name }) => name === server);
        if (asked === undefined) return unknownServer(server);
        const answered = await asked.ask("resources/read", { uri }, signal);
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
  return { content: `there is no MCP server named ${shortened(server, 100)} that has resources`, success: false };
}

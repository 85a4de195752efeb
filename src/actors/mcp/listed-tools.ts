import { createHash } from "node:crypto";
import { isRecord } from "../../base/is-record.js";
import { shortened } from "../../base/text/truncate.js";
import { visible } from "../../base/text/visible.js";
import type { ListedTool, ServerState } from "../../messages/actors/mcp.js";
import type { McpServerEntry } from "../../messages/settings/mcp-config.js";

const maxToolNameChars = 64;

const hashChars = 8;

const schemasByName: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);

const schemaLists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

const schemas: ReadonlySet<string> = new Set(["items", "additionalProperties", "not"]);

export type ListedTools = Pick<Extract<ServerState, { status: "ready" }>, "tools" | "leftOut">;

/** More would leave no room for other tools: OpenAI accepts 128 in total. */
export const maxTools = 100;
const maxDescriptionChars = 4_000;
const maxSchemaChars = 32_000;
const maxNameChars = 300;
const maxLeftOut = 20;
/** Maximum number of tools inspected over all pages. */
const maxLooked = 10_000;
const tooMany = `there are more than ${maxTools} tools; see enabled_tools`;

/** Keys that no wire API accepts at the top of a schema; the server validates its arguments itself. */
const refusedKeys: ReadonlySet<string> = new Set([
  "$schema",
  "oneOf",
  "anyOf",
  "allOf",
  "enum",
  "not",
  "if",
  "then",
  "else",
]);

type Wanted = Pick<McpServerEntry, "enabled_tools" | "disabled_tools">;

/** Collects the usable and enabled tools of a server, page by page; an invalid tool does not affect the others. */
export class ToolList {
  readonly #wanted: Wanted;
  readonly #tools = new Map<string, ListedTool>();
  readonly #skipped: string[] = [];
  #checked = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Whether all later tools would be ignored. */
  get isFull(): boolean {
    return this.#tools.size >= maxTools || this.#checked >= maxLooked;
  }

  add(page: readonly unknown[]): void {
    const checked = page.slice(0, maxLooked - this.#checked);
    this.#checked += checked.length;
    for (const raw of checked) {
      const { name } = Object(raw) as { readonly name?: unknown };
      if (typeof name === "string" && !isWanted(name, this.#wanted)) continue;
      const tool = this.#tools.size < maxTools ? listedTool(raw) : tooMany;
      if (typeof tool === "string") this.#skip(String(name), tool);
      else if (this.#tools.has(tool.name)) this.#skip(tool.name, "duplicate name");
      else this.#tools.set(tool.name, tool);
    }
  }

  get listed(): ListedTools {
    return { tools: [...this.#tools.values()], leftOut: [...this.#skipped] };
  }

  #skip(name: string, why: string): void {
    if (this.#skipped.length < maxLeftOut) this.#skipped.push(`${shortened(visible(name), 80)}: ${why}`);
  }
}

function isWanted(name: string, { enabled_tools: only, disabled_tools: not = [] }: Wanted): boolean {
  return (only === undefined || only.includes(name)) && !not.includes(name);
}

/** Returns the tool, or the problem with it. */
function listedTool(raw: unknown): ListedTool | string {
  const { name, description = "", inputSchema } = Object(raw) as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || name === "" || name.length > maxNameChars) return "invalid name";
  if (!isRecord(inputSchema) || inputSchema["type"] !== "object") return "its schema is not an object schema";
  try {
    const allowed = Object.fromEntries(Object.entries(inputSchema).filter(([key]) => !refusedKeys.has(key)));
    const { properties = {} } = allowed;
    if (!isRecord(properties)) return "its schema is not an object schema";
    const wrong = Object.keys(properties).find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key));
    if (wrong !== undefined) return "an argument's name is not accepted by every model";
    const schema = withItems({ ...allowed, properties });
    if (JSON.stringify(schema).length > maxSchemaChars) return "its schema is too long";
    return {
      name,
      description: shortened(typeof description === "string" ? description : "", maxDescriptionChars),
      inputSchema: schema,
      revision: createHash("sha256").update(JSON.stringify(raw)).digest("base64"),
    };
  } catch {
    // Too deep to be serialized.
    return "its schema is nested too deeply";
  }
}

/** Adds `items` to every array schema without it, because OpenAI rejects tools with such a schema. */
function withItems(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const converted = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, partOf(key, value)]));
  const { type } = schema;
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  return isArray && !isRecord(schema["items"]) ? { ...converted, items: {} } : converted;
}

function partOf(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return schemaLists.has(key) ? value.map(inner) : value;
  if (!isRecord(value)) return value;
  if (!schemasByName.has(key)) return schemas.has(key) ? withItems(value) : value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inner(part)]));
}

function inner(value: unknown): unknown {
  return isRecord(value) ? withItems(value) : value;
}

/** Returns the model's name for a tool: `mcp__server__tool`, in characters and a length that every wire API accepts. */
export function toolName(server: string, tool: string, usedNames: ReadonlySet<string>): string {
  const fullName = `mcp__${server}__${tool}`;
  const fit = fullName.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  // A changed name could equal another tool's name, so it gets a hash of the original.
  if (fit === fullName && fit.length <= maxToolNameChars && !usedNames.has(fit)) return fit;
  for (let count = 0; ; count += 1) {
    const hash = createHash("sha256").update(`${fullName}\0${count}`).digest("hex").slice(0, hashChars);
    const name = `${fit.slice(0, maxToolNameChars - hashChars - 1)}_${hash}`;
    if (!usedNames.has(name)) return name;
  }
}

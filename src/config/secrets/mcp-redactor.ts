import type { McpServerEntries } from "../../messages/settings/mcp-config.js";
import { mcpSecrets, createRedactor, secretsOf, redactionRules } from "./redact.js";
import { LearningRedactor } from "./text-redactor.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Values nested deeper are omitted: they are of no use to a reader, and walking them could overflow the stack. */
const maxDepth = 500;

/** Redacts output from MCP servers and messages about them, whichever configuration defined the servers. */
export class McpRedactor {
  readonly #known: LearningRedactor;
  readonly #redact: (text: string) => string;

  constructor(servers: McpServerEntries, env: Env) {
    this.#known = new LearningRedactor({ ...redactionRules({ mcp_servers: servers }, env), names: [], shapes: false });
    this.#redact = createRedactor([...mcpSecrets(servers, env), ...secretsOf(env)]);
  }

  /** Adds a secret that became known later, such as a token. */
  learn(secret: string): void {
    this.#known.learn(secret);
  }

  /** Redacts a message about a server, including text that only looks like a secret. */
  text(text: string): string {
    return this.#redact(this.#clean(text));
  }

  /** Redacts only exact known values from a server's answer, because the rest is what the caller asked for. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.#clean(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === maxDepth) return "[nested too deeply to show]";
    if (Array.isArray(value)) return value.map((each) => this.value(each, depth + 1));
    const entries = Object.entries(value).map(([name, each]) => [this.#clean(name), this.value(each, depth + 1)]);
    return Object.fromEntries(entries) as unknown;
  }

  #clean(text: string): string {
    return this.#known.redactKnown(text, () => undefined);
  }
}

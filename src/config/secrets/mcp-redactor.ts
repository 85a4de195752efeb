import type { McpServerEntries } from "../../messages/mcp-config.js";
import { mcpSecrets } from "./mcp-secrets.js";
import { createRedactor, secretsOf } from "./redact.js";
import { LearningRedactor } from "./learning-redactor.js";
import { redactionRules } from "./rules.js";

type Env = Readonly<Record<string, string | undefined>>;

/** What is nested deeper is left out: nobody reads it, and looking for it would end in a stack that is full. */
const maxDepth = 500;

/** For what servers say and what is said of them: whoever named them, their secrets go no further. */
export class McpRedactor {
  readonly #known: LearningRedactor;
  readonly #redact: (text: string) => string;

  constructor(servers: McpServerEntries, env: Env) {
    this.#known = new LearningRedactor({ ...redactionRules({ mcp_servers: servers }, env), names: [], shapes: false });
    this.#redact = createRedactor([...mcpSecrets(servers, env), ...secretsOf(env)]);
  }

  /** One that came later, as tokens do. */
  learn(secret: string): void {
    this.#known.learn(secret);
  }

  /** Of what is said about a server also what only looks like a secret. */
  text(text: string): string {
    return this.#redact(this.#clean(text));
  }

  /** Of what a server answers the exact values alone: the rest is what somebody asked for. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.#clean(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === maxDepth) return "[too deep to be shown]";
    if (Array.isArray(value)) return value.map((each) => this.value(each, depth + 1));
    const entries = Object.entries(value).map(([name, each]) => [this.#clean(name), this.value(each, depth + 1)]);
    return Object.fromEntries(entries) as unknown;
  }

  #clean(text: string): string {
    return this.#known.redactKnown(text, () => undefined);
  }
}

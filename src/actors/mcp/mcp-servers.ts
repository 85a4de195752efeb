import { McpRedactor } from "../../config/secrets/mcp-redactor.js";
import type { McpServerEntries } from "../../messages/mcp-config.js";
import { SharedServer } from "./shared-server.js";

export interface McpServersOptions {
  /** cody's home directory. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (text: string) => void;
}

/** The servers that a conversation uses while it is open. */
export interface Lease {
  readonly servers: readonly SharedServer[];
  /** A server ends when the last conversation of its project releases it. */
  release(): Promise<void>;
}

interface UsedServer {
  readonly server: SharedServer;
  users: number;
}

/** The MCP servers of a manager: each server of a project runs once, shared by all its conversations. */
export class McpServers {
  readonly #options: McpServersOptions;
  readonly #used = new Map<string, UsedServer>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  lease(root: string, entries: McpServerEntries): Lease {
    const wanted = Object.entries(entries).filter(([, { enabled }]) => enabled !== false);
    const redactor = new McpRedactor(entries, this.#options.env);
    // Two projects, or two configurations of one name, must not share a process.
    const keys = wanted.map(([name, entry]) => {
      const key = JSON.stringify([root, name, entry]);
      const known = this.#used.get(key) ?? {
        server: new SharedServer({ name, entry, root, ...this.#options, redactor }),
        users: 0,
      };
      known.users += 1;
      this.#used.set(key, known);
      return { key, server: known.server };
    });
    let released: Promise<void> | undefined;
    return {
      servers: keys.map(({ server }) => server),
      release: () => {
        released ??= this.#release(keys.map(({ key }) => key));
        return released;
      },
    };
  }

  /** Waits for servers that are ending; no lease may be in use any more. */
  async close(): Promise<void> {
    await this.#release([...this.#used.keys()]);
    await Promise.all(this.#stopping);
  }

  async #release(keys: readonly string[]): Promise<void> {
    const unused = keys.flatMap((key) => {
      const used = this.#used.get(key);
      if (used === undefined || (used.users -= 1) > 0) return [];
      this.#used.delete(key);
      return [used.server];
    });
    await Promise.all(unused.map((server) => this.#stop(server)));
  }

  async #stop(server: SharedServer): Promise<void> {
    const stopping = server.stop();
    this.#stopping.add(stopping);
    try {
      await stopping;
    } finally {
      this.#stopping.delete(stopping);
    }
  }
}

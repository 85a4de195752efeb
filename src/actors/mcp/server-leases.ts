import { type ProjectServers, readProjectServers } from "../../config/project/project-config.js";
import type { McpServerEntries } from "../../messages/mcp-config.js";
import { quotedWord } from "../../base/text/quoted-command.js";
import type { Lease, McpServers, McpServersOptions } from "./mcp-servers.js";

interface ServerLeasesOptions extends McpServersOptions {
  /** The user's configured servers, used in every project. */
  readonly configured: McpServerEntries;
}

interface OpenedServers {
  /** Undefined when there are no servers. */
  readonly lease: Lease | undefined;
  /** A notice for the user. */
  readonly notice: string | undefined;
}

/** Finds the servers of a conversation: the user's own, and those of its project once the user trusts it. */
export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** Conversations that are opened together read their project's servers once. */
  readonly #lookups = new Map<string, Promise<ProjectServers>>();
  #servers: Promise<McpServers> | undefined;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
  }

  /** Opens the servers for a project, by the real path of its root. */
  async open(realRoot: string): Promise<OpenedServers> {
    const project = await this.#project(realRoot);
    const isTrusted = project.trust === "trusted";
    const entries = { ...this.#options.configured, ...(isTrusted ? project.servers : {}) };
    const notice = isTrusted ? project.problem : untrustedNotice(project);
    if (Object.values(entries).every(({ enabled }) => enabled === false)) return { lease: undefined, notice };
    // Loaded only when there is a server to start.
    this.#servers ??= import("./mcp-servers.js").then(({ McpServers: Servers }) => new Servers(this.#options));
    return { lease: (await this.#servers).lease(project.root, entries), notice };
  }

  async close(): Promise<void> {
    await (await this.#servers)?.close();
  }

  #project(realRoot: string): Promise<ProjectServers> {
    const known = this.#lookups.get(realRoot);
    if (known !== undefined) return known;
    const lookup = readProjectServers(this.#options.home, realRoot).finally(() => this.#lookups.delete(realRoot));
    this.#lookups.set(realRoot, lookup);
    return lookup;
  }
}

/** A user who has explicitly distrusted the project needs no notice. */
function untrustedNotice({ trust, servers, root }: ProjectServers): string | undefined {
  const names = Object.keys(servers);
  if (trust !== undefined || names.length === 0) return undefined;
  const what = `This project's MCP servers (${names.join(", ")}) are not started, because the project is not trusted`;
  return `${what}. See: cody mcp list. To trust it: cody trust ${quotedWord(root)}`;
}

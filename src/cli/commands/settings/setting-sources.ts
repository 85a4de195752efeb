import { join } from "node:path";
import { variableOf } from "../../../config/settings/config-names.js";
import type { ConfigLayer, ConfigSource } from "../../../config/load-config.js";
import { readProjectServers } from "../../../config/project/project-servers.js";
import { configKeys } from "../../../config/settings/setting-keys.js";
import { type LeafValue, settingLeaves } from "../../../config/settings/setting-leaves.js";
import { keyVariable, baseUrlFromEnvironment, vendorNames, vendorOf } from "../../../config/providers/vendors.js";
import type { ProviderEntry } from "../../../messages/config.js";
import type { McpServerEntries } from "../../../messages/mcp-config.js";
import type { CommandContext } from "../../context.js";

/** The value of a setting in one source. */
export interface SourcedValue {
  readonly source: ConfigSource;
  readonly value: LeafValue;
}

/** For each setting that is set, all its sources; the effective one comes first. */
export function settingSources(layers: readonly ConfigLayer[]): ReadonlyMap<string, readonly SourcedValue[]> {
  const said = new Map<string, SourcedValue[]>();
  for (const { source, config } of layers.toReversed()) {
    for (const [key, value] of settingLeaves(config)) said.set(key, [...(said.get(key) ?? []), { source, value }]);
  }
  return said;
}

/** The keys and addresses from the environment, which a provider's configuration overrides. */
export function vendorLayer({ terminal: { env } }: CommandContext, names: Iterable<string>): ConfigLayer {
  const entries = [...new Set([...vendorNames, ...names])].map((name): [string, ProviderEntry] => {
    const apiKey = env[keyVariable(name)]?.trim() || undefined;
    return [name, { apiKey, baseUrl: baseUrlFromEnvironment(name, env) }];
  });
  return { source: "environment", config: { providers: Object.fromEntries(entries) } };
}

/** The servers of a trusted project, which are read separately from its settings. */
export async function trustedServers({ home, projectRoots }: CommandContext): Promise<McpServerEntries> {
  const { trust, servers } = await readProjectServers(home, (await projectRoots()).realRoot);
  return trust === "trusted" ? servers : {};
}

/** The file, variable or flag in which a person would find the value. */
export function sourceText({ home }: CommandContext, source: ConfigSource, key: string): string {
  if (source === "environment") return variableNamed(key);
  if (source === "flag") return "a flag";
  return source.startsWith(".cody/") ? `${source} of the project` : join(home, source);
}

function variableNamed(key: string): string {
  const setting = configKeys.find((candidate) => candidate === key);
  if (setting !== undefined) return variableOf(setting);
  const [, name = ""] = key.split(".");
  return key.endsWith(".apiKey") ? keyVariable(name) : (vendorOf(name)?.baseUrlOf?.variable ?? "environment");
}

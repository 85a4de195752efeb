import { loadConfig, type LoadedConfig } from "../config/load-config.js";
import { mcpSecrets } from "../config/secrets/redact.js";
import { mistypedVariables } from "../config/settings/environment-config.js";
import { configuredKeys } from "../config/providers/vendors.js";
import { configFlags } from "./arguments/config-flags.js";
import type { SettingFlag } from "./arguments/flag-table.js";
import type { SharedContext } from "./context.js";
import { quotedWord } from "../base/text/quoted-command.js";
import { visible } from "../base/text/visible.js";

/** Loads the configuration of this run, redacts its keys in later messages, and reports its warnings. */
export async function loadSettings(context: SharedContext<SettingFlag | "config">): Promise<LoadedConfig> {
  const { home, codexHome, terminal } = context;
  const { env } = terminal;
  const { realRoot } = await context.projectRoots();
  const loaded = await loadConfig({ home, codexHome, projectRoot: realRoot, env, flags: configFlags(context) });
  context.hide([...configuredKeys(loaded.values.providers), ...mcpSecrets(loaded.values.mcp_servers, env)]);
  for (const warning of loaded.warnings) await context.tellOnce(visible(warning));
  if (loaded.exposed !== undefined) {
    const remedy = `chmod 600 ${quotedWord(loaded.exposed)}`;
    await context.tellOnce(`Other users can read ${loaded.file}, which contains a key. Run: ${remedy}`);
  }
  if (loaded.ignoredConfig !== undefined) {
    await context.tellOnce(`${loaded.ignoredConfig} is ignored: this project is not trusted. To trust it: cody trust`);
  }
  for (const { name, suggestion } of await mistypedVariables(env)) {
    await context.tellOnce(`Unknown variable ${visible(name)} is ignored. Did you mean ${suggestion}?`);
  }
  return loaded;
}

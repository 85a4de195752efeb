import { loadConfig, type LoadedConfig } from "../config/load-config.js";
import { mcpSecrets } from "../config/mcp-secrets.js";
import { configuredKeys } from "../config/vendors.js";
import { configFlags } from "./config-flags.js";
import type { CommandContext } from "./context.js";
import { quotedWord } from "../messages/quoted-command.js";

/** What holds for this run. Its keys are in no message from then on, and who else can read them is told. */
export async function loadSettings(context: CommandContext): Promise<LoadedConfig> {
  const { home, codexHome, terminal } = context;
  const { cwd, env } = terminal;
  const loaded = await loadConfig({ home, codexHome, cwd, env, flags: configFlags(context) });
  context.hide([...configuredKeys(loaded.values.providers), ...mcpSecrets(loaded.values.mcp_servers, env)]);
  if (loaded.exposed !== undefined) {
    const remedy = `chmod 600 ${quotedWord(loaded.exposed)}`;
    await context.tell(`Others can read ${loaded.file}, and there is a key in it. Run: ${remedy}`);
  }
  if (loaded.unasked !== undefined) {
    await context.tell(
      `${loaded.unasked} is not used: nobody has said that this project is trusted. If it is: cody trust`,
    );
  }
  return loaded;
}

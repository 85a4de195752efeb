import { resolveProvider } from "../../config/resolve-provider.js";
import { saveConfig } from "../../config/save-config.js";
import { configFlags } from "../config-flags.js";
import { type CommandContext, printResult } from "../context.js";
import { tellSetAside } from "../tell-set-aside.js";
import { availableProviders } from "../workspace.js";

/** An API and a model go with their provider, so those of the old one are taken out. */
export async function setProviderCommand(context: CommandContext): Promise<number> {
  const { provider, api, model } = configFlags({ ...context, flags: { ...context.flags, ...named(context) } });
  const saved = await saveConfig(context.home, { provider, api, model });
  await tellSetAside(context, saved);
  const lines = [
    `✓ Provider set: ${provider}`,
    ...(api === undefined ? [] : [`  API: ${api}`]),
    ...(model === undefined ? [] : [`  Model: ${model}`]),
  ];
  await printResult(context, { text: lines.join("\n"), json: { provider, api, model } });
  const { env } = context.terminal;
  const found = resolveProvider({
    config: saved.config,
    env,
    available: availableProviders(context),
    command: "other",
  });
  if (!found.ok) await context.tell(found.message);
  return 0;
}

function named({ args }: CommandContext): { provider?: string } {
  return args[0] === undefined ? {} : { provider: args[0] };
}

import { resolveProvider } from "../../config/resolve-provider.js";
import { apiProblem } from "../../config/vendors.js";
import { changeConfig } from "../change-config.js";
import { usageError } from "../command-error.js";
import { configFlags } from "../config-flags.js";
import { type CommandContext, printResult } from "../context.js";
import { inProcessProviders } from "../workspace.js";

/** An API, a model and an address go with their provider, so those of the old one are taken out. */
export async function setProviderCommand(context: CommandContext): Promise<number> {
  const { provider, api, model, baseUrl } = configFlags({ ...context, flags: { ...context.flags, ...named(context) } });
  const problem = provider === undefined || api === undefined ? undefined : apiProblem(provider, api);
  if (problem !== undefined) throw usageError(problem);
  const config = await changeConfig(context, { provider, api, model, baseUrl });
  const lines = [
    `✓ Provider set: ${provider}`,
    ...(api === undefined ? [] : [`  API: ${api}`]),
    ...(model === undefined ? [] : [`  Model: ${model}`]),
    ...(baseUrl === undefined ? [] : [`  Base URL: ${baseUrl}`]),
  ];
  await printResult(context, { text: lines.join("\n"), json: { provider, api, model, baseUrl } });
  const { env } = context.terminal;
  const found = resolveProvider({ config, env, inProcess: inProcessProviders(context), command: "other" });
  if (!found.ok) await context.tell(found.message);
  return 0;
}

function named({ args }: CommandContext): { provider?: string } {
  return args[0] === undefined ? {} : { provider: args[0] };
}

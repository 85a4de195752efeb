import { borrowedPlaces, findTokens } from "../../../actors/credentials/find-tokens.js";
import { TokenStore } from "../../../actors/credentials/token-store.js";
import { readConfigFile, salvageConfig } from "../../../config/files/config-file.js";
import { loginFacts } from "../../../config/providers/logins.js";
import { resolveProvider, unknownProvider } from "../../../config/providers/resolve-provider.js";
import { apiProblem, hasKey, vendorOf } from "../../../config/providers/vendors.js";
import type { Config } from "../../../messages/settings/config.js";
import { changeConfig } from "./change-config.js";
import { usageError } from "../../command-error.js";
import { configFlags } from "../../arguments/config-flags.js";
import { type CommandContext, printResult } from "../../context.js";
import { loadSettings } from "../../load-settings.js";
import { inProcessProviders } from "../../workspace.js";

/** An API, a model and an address belong to their provider, so those of the old one are removed. */
export async function setProviderCommand(context: CommandContext): Promise<number> {
  const [provider = ""] = context.args;
  const { api, model, baseUrl } = configFlags({ ...context, flags: { ...context.flags, provider } });
  if (baseUrl === undefined) await checkKnownProvider(context, provider);
  const problem = api === undefined ? undefined : apiProblem(provider, api);
  if (problem !== undefined) throw usageError(problem);
  const config = await changeConfig(context, { provider, api, model, baseUrl });
  const lines = [
    `✓ Provider set: ${provider}`,
    ...(api === undefined ? [] : [`  API: ${api}`]),
    ...(model === undefined ? [] : [`  Model: ${model}`]),
    ...(baseUrl === undefined ? [] : [`  Base URL: ${baseUrl}`]),
  ];
  await printResult(context, { text: lines.join("\n"), json: { provider, api, model, baseUrl } });
  await warnProblem(context, provider, config);
  return 0;
}

/** Accepts a known vendor, an in-process provider, or one the user has configured. */
export async function checkKnownProvider(context: CommandContext, provider: string): Promise<void> {
  const inProcess = inProcessProviders(context);
  if (vendorOf(provider) !== undefined || inProcess.has(provider)) return;
  const file = await readConfigFile(context.home);
  const { providers = {} } = file === undefined ? {} : await salvageConfig(file);
  if (Object.hasOwn(providers, provider)) return;
  throw usageError(...unknownProvider(provider, [...inProcess, ...Object.keys(providers)]));
}

/** Reports what is still missing for a conversation with this provider. */
async function warnProblem(context: CommandContext, provider: string, config: Config): Promise<void> {
  const { env } = context.terminal;
  // The login may also be selected by the environment.
  const { auth, providers, models } = (await loadSettings(context)).values;
  const settings = { ...config, auth, providers, models };
  const inProcess = inProcessProviders(context);
  const found = resolveProvider({ config: settings, env, inProcess, command: "other" });
  if (found.ok) return;
  const isKeyMissing = vendorOf(provider)?.key !== undefined && !hasKey(provider, { env, providers });
  const hasLogin = isKeyMissing && (await hasUnchosenLogin(context, provider));
  const useLogin = `No API key for ${provider} is set. To use your ChatGPT login: cody set-auth chatgpt-oauth`;
  await context.tell(hasLogin ? useLogin : found.message);
}

/** True if a login exists that is not in use. A Claude login is not suggested: its vendor allows it in few programs. */
async function hasUnchosenLogin({ home, terminal }: CommandContext, provider: string): Promise<boolean> {
  const { name, provider: owner } = loginFacts("chatgpt");
  if (provider !== owner) return false;
  const places = borrowedPlaces(terminal.env, () => terminal.homedir);
  const tokens = await findTokens(name, new TokenStore(home), places).catch(() => undefined);
  return tokens !== undefined;
}

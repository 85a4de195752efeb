import { resolveSettings } from "../../actors/conversation/resolve-settings.js";
import { type ConfigKey, loadConfig, type LoadedConfig } from "../../config/load-config.js";
import { homePaths } from "../../config/paths.js";
import { saveConfig } from "../../config/save-config.js";
import { effectiveLimits } from "../../config/turn-limits.js";
import { saidBaseUrl } from "../../config/vendors.js";
import { InvalidInputError } from "../../messages/errors.js";
import { exitCodes, usageError } from "../command-error.js";
import { configFlags } from "../config-flags.js";
import { changeOf, checkedKey, configKeys, type ConfigValue, valueOf } from "../config-keys.js";
import { type CommandContext, printLine, printResult } from "../context.js";
import { tellSetAside } from "../tell-set-aside.js";
import { inProcessProviders } from "../workspace.js";

export async function configCommand(context: CommandContext): Promise<number> {
  const [action, key, value] = context.args;
  switch (action) {
    case undefined:
      return await showAll(context);
    case "path":
      return await showPath(context);
    case "get":
      return await showOne(context, checkedKey(key));
    case "set":
      return await change(context, checkedKey(key), value);
    default:
      throw usageError(`Unknown action '${action}'`, usage);
  }
}

const usage = "Usage: cody config [get KEY | set KEY VALUE | path]";

async function showAll(context: CommandContext): Promise<number> {
  const { values, sources } = await effectiveConfig(context);
  const lines = configKeys.map((key) => `${key} = ${String(values[key] ?? "(not set)")}  (${sources[key]})`);
  // Every setting has its place, those without a value too.
  const all = Object.fromEntries(configKeys.map((key) => [key, values[key] ?? null]));
  await printResult(context, { text: lines.join("\n"), json: { values: all, sources } });
  return 0;
}

async function showPath(context: CommandContext): Promise<number> {
  const path = homePaths(context.home).config;
  await printResult(context, { text: path, json: path });
  return 0;
}

async function showOne(context: CommandContext, key: ConfigKey): Promise<number> {
  const { values } = await effectiveConfig(context);
  const value = values[key];
  if (value === undefined) {
    if (context.flags.json) await printLine(context, "null");
    await context.tell(`${key} is not set`);
    return exitCodes.failed;
  }
  await printResult(context, { text: String(value), json: value });
  return 0;
}

async function change(context: CommandContext, key: ConfigKey, text: string | undefined): Promise<number> {
  if (text === undefined) throw usageError(`A value for ${key} is missing`, usage);
  const value = valueOf(key, text);
  await tellSetAside(context, await saveConfig(context.home, changeOf(key, value)));
  await printResult(context, { text: `${key} = ${text}`, json: { [key]: value } });
  return 0;
}

type Shown = Record<ConfigKey, ConfigValue | undefined>;

/** What a conversation started now would have, defaults included. */
async function effectiveConfig(context: CommandContext): Promise<{ values: Shown; sources: LoadedConfig["sources"] }> {
  const { home, codexHome, terminal } = context;
  const { values, sources } = await loadConfig({ home, codexHome, env: terminal.env, flags: configFlags(context) });
  const settings = await settingsOf(context, values);
  const limits = effectiveLimits(values.turnLimits);
  const { provider = "", baseUrl } = settings;
  const fromEnvironment = baseUrl !== values.baseUrl && baseUrl === saidBaseUrl(provider, context.terminal.env);
  return {
    sources: fromEnvironment ? { ...sources, baseUrl: "environment" } : sources,
    values: {
      provider: settings.provider,
      api: settings.api,
      model: settings.model,
      baseUrl,
      auth: values.auth,
      approvalPolicy: settings.approvalPolicy,
      sandbox: settings.sandbox,
      "turnLimits.steps": limits.steps,
      "turnLimits.seconds": limits.seconds,
      "turnLimits.tokens": limits.tokens,
      "turnLimits.approvalSeconds": limits.approvalSeconds,
      toolEnv: values.toolEnv,
      "persistence.enabled": values.persistence.enabled,
      "persistence.layout": values.persistence.layout,
      "persistence.directory": values.persistence.directory,
    },
  };
}

/** Without the key a named provider needs, what is configured is still shown. */
async function settingsOf(context: CommandContext, config: LoadedConfig["values"]): Promise<ReturnType<typeof shown>> {
  const { env, cwd } = context.terminal;
  const inProcess = inProcessProviders(context);
  try {
    const { settings } = resolveSettings({ config, conversation: {}, env, inProcess, cwd });
    return shown(settings);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    await context.tell(error.message);
    return shown(config);
  }
}

function shown(
  said: Pick<LoadedConfig["values"], "provider" | "api" | "model" | "baseUrl" | "approvalPolicy" | "sandbox">,
) {
  const { provider, api, model, baseUrl, approvalPolicy, sandbox } = said;
  return { provider, api, model, baseUrl, approvalPolicy, sandbox };
}

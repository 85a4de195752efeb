import { join } from "node:path";
import { configPath } from "../../config/config-file.js";
import { variableOf } from "../../config/environment-config.js";
import type { ConfigSource } from "../../config/load-config.js";
import { saveConfig } from "../../config/save-config.js";
import { type ConfigKey, configKeys, settingIn } from "../../config/setting-keys.js";
import { exitCodes, usageError } from "../command-error.js";
import { changeOf, checkedKey, isSecret, providerNamed, type SettingKey, valueOf } from "../config-keys.js";
import { type CommandContext, printLine, printResult } from "../context.js";
import { effectiveConfig, hiddenValue } from "../effective-config.js";
import { watchSignals } from "../interruption.js";
import { loadSettings } from "../load-settings.js";
import { readSecret } from "../read-secret.js";
import { tellSetAside } from "../tell-set-aside.js";

export async function configCommand(context: CommandContext): Promise<number> {
  const [action, key, value] = context.args;
  switch (action) {
    case undefined:
      return context.flags.explain ? await explain(context) : await showAll(context);
    case "path":
      return await showPath(context);
    case "get":
      return await showOne(context, checkedKey(key));
    case "set":
      return await change(context, checkedKey(key), value);
    case "unset":
      return await takeOut(context, checkedKey(key));
    default:
      throw usageError(`Unknown action '${action}'`, usage);
  }
}

const usage = "Usage: cody config [get KEY | set KEY VALUE | unset KEY | path] [--explain]";

async function showAll(context: CommandContext): Promise<number> {
  const settings = [...(await effectiveConfig(context))];
  const lines = settings.map(([key, { value, source }]) => `${key} = ${String(value ?? "(not set)")}  (${source})`);
  // Every setting has its place, those without a value too.
  const values = Object.fromEntries(settings.map(([key, { value }]) => [key, value ?? null]));
  const sources = Object.fromEntries(settings.map(([key, { source }]) => [key, source]));
  await printResult(context, { text: lines.join("\n"), json: { values, sources } });
  return 0;
}

/** For each setting somebody has said, all who have, the one that holds first. */
async function explain(context: CommandContext): Promise<number> {
  const settings = await effectiveConfig(context);
  const { layers } = await loadSettings({ ...context, tell: () => Promise.resolve() });
  const explained = configKeys.flatMap((key) => {
    const said = layers.flatMap(({ source, config }) => {
      const value = settingIn(config, key);
      return value === undefined ? [] : [{ source, value: String(value) }];
    });
    return said.length === 0 ? [] : [{ key, value: settings.get(key)?.value ?? null, said: said.toReversed() }];
  });
  const lines = explained.flatMap(({ key, value, said }) => [
    `${key} = ${String(value ?? "(not set)")}`,
    ...said.map((one) => `  ${placeOf(context, one.source, key)} says ${one.value}`),
  ]);
  const text = lines.length === 0 ? "Everything is as it is by default." : lines.join("\n");
  await printResult(context, { text, json: explained });
  return 0;
}

function placeOf({ home }: CommandContext, source: ConfigSource, key: ConfigKey): string {
  if (source === "environment") return variableOf(key);
  if (source === "flag") return "a flag";
  return source.startsWith(".cody/") ? `${source} of the project` : join(home, source);
}

async function showPath(context: CommandContext): Promise<number> {
  const path = await configPath(context.home);
  await printResult(context, { text: path, json: path });
  return 0;
}

async function showOne(context: CommandContext, key: SettingKey): Promise<number> {
  const value = (await effectiveConfig(context, providerNamed(key))).get(key)?.value;
  if (value === undefined) {
    if (context.flags.json) await printLine(context, "null");
    await context.tell(`${key} is not set`);
    return exitCodes.failed;
  }
  await printResult(context, { text: String(value), json: value });
  return 0;
}

async function change(context: CommandContext, key: SettingKey, text: string | undefined): Promise<number> {
  if (text === undefined) throw usageError(`A value for ${key} is missing`, usage);
  if (isSecret(key)) return await changeSecret(context, key, text);
  const value = valueOf(key, text);
  await tellSetAside(context, await saveConfig(context.home, changeOf(key, value)));
  await printResult(context, { text: `${key} = ${text}`, json: { [key]: value } });
  return 0;
}

/** A dash stands for stdin: what is an argument can be read in the shell's history and in the list of processes. */
async function changeSecret(context: CommandContext, key: SettingKey, text: string): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const secret = text === "-" ? await readSecret(context, key, interruption) : text;
  if (interruption.exitCode !== undefined) return interruption.exitCode;
  if (secret === "") throw usageError("There is no key on stdin");
  context.hide([secret]);
  await tellSetAside(context, await saveConfig(context.home, changeOf(key, secret)));
  await printResult(context, { text: `${key} = ${hiddenValue}`, json: { [key]: hiddenValue } });
  if (text !== "-") await context.tell(`Your shell may remember the key. To type it instead: cody config set ${key} -`);
  return 0;
}

async function takeOut(context: CommandContext, key: SettingKey): Promise<number> {
  await tellSetAside(context, await saveConfig(context.home, changeOf(key, undefined)));
  await printResult(context, { text: `${key} is not set any more`, json: { [key]: null } });
  return 0;
}

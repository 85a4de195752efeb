import { configPath } from "../../config/config-file.js";
import { saveConfig } from "../../config/save-config.js";
import { exitCodes, usageError } from "../command-error.js";
import { changeOf, checkedKey, isSecret, providerNamed, type SettingKey, valueOf } from "../config-keys.js";
import { type CommandContext, printLine, printResult } from "../context.js";
import { effectiveConfig, hiddenValue } from "../effective-config.js";
import { watchSignals } from "../interruption.js";
import { readSecret } from "../read-secret.js";
import { tellSetAside } from "../tell-set-aside.js";

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
    case "unset":
      return await takeOut(context, checkedKey(key));
    default:
      throw usageError(`Unknown action '${action}'`, usage);
  }
}

const usage = "Usage: cody config [get KEY | set KEY VALUE | unset KEY | path]";

async function showAll(context: CommandContext): Promise<number> {
  const settings = [...(await effectiveConfig(context))];
  const lines = settings.map(([key, { value, source }]) => `${key} = ${String(value ?? "(not set)")}  (${source})`);
  // Every setting has its place, those without a value too.
  const values = Object.fromEntries(settings.map(([key, { value }]) => [key, value ?? null]));
  const sources = Object.fromEntries(settings.map(([key, { source }]) => [key, source]));
  await printResult(context, { text: lines.join("\n"), json: { values, sources } });
  return 0;
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

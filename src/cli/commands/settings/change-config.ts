import { basename } from "node:path";
import { saveFailureReason } from "../../../actors/rollout-writer/save-failure.js";
import { configPath } from "../../../config/files/config-file.js";
import { type ConfigChange, type SavedConfig, saveConfig } from "../../../config/files/save-config.js";
import type { Config } from "../../../messages/settings/config.js";
import { systemCode, systemProblem } from "../../../base/system-error.js";
import { CommandError, exitCodes } from "../../command-error.js";
import type { CommandContext } from "../../context.js";

/** Changes the user's configuration. Warns about a damaged file, and names the file in errors. */
export async function changeConfig(context: CommandContext, change: ConfigChange): Promise<Config> {
  const { config, setAside } = await saveOrExplain(context, change);
  if (setAside !== undefined) {
    await context.tell(`${basename(setAside, ".invalid")} was invalid; a copy was saved as ${setAside}`);
  }
  return config;
}

async function saveOrExplain(context: CommandContext, change: ConfigChange): Promise<SavedConfig> {
  try {
    return await saveConfig(context.home, change);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    context.log("warn", `Cannot change the configuration: ${error.message}`);
    const path = await configPath(context.home);
    const { hint } = systemProblem(error) ?? {};
    const hints = hint === undefined ? [] : [hint];
    throw new CommandError(`Cannot change ${path}: ${saveFailureReason(error)}`, exitCodes.failed, hints);
  }
}

/** Errors from writing to an open file do not contain its name. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error && systemCode(error) !== undefined;
}

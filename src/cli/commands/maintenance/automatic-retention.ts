import { readRetention, isTimeToRun } from "../../../actors/retention/plan-retention.js";
import { loadConfig } from "../../../config/load-config.js";
import { effectiveRetention, type RetentionSettings } from "../../../config/settings/effective-settings.js";
import { errorMessage } from "../../../base/error-message.js";
import { counted } from "../../../base/text/counted.js";
import { configFlags } from "../../arguments/config-flags.js";
import type { SettingFlag } from "../../arguments/flag-table.js";
import { type CommandContext, type SharedContext, currentTime } from "../../context.js";

/**
 * Runs retention after a command that wrote something, but only if a person can read the announcement: without a
 * terminal, or with --json, nothing is announced and so nothing is ever removed. Its errors do not affect the command.
 */
export async function automaticRetention(context: SharedContext<SettingFlag | "codex">): Promise<void> {
  const { home, codexHome, terminal, flags } = context;
  if (flags.json || flags.codex === true || flags.noPersistence === true || !terminal.stderr.isTTY) return;
  try {
    const state = await readRetention(home);
    if (!isTimeToRun(state, currentTime(context))) return;
    const { values, places } = await loadConfig({ home, codexHome, env: terminal.env, flags: configFlags(context) });
    const { persistence } = values;
    if (!persistence.enabled) return;
    const settings = effectiveRetention(persistence);
    if (state === undefined && !(await show(context, introduction(persistence.directory, settings)))) return;
    // Imported only when due, because every writing command passes here.
    const { runRetention } = await import("../../../actors/retention/run-retention.js");
    const { trashed, removed } = await runRetention({
      places,
      env: terminal.env,
      now: () => new Date(currentTime(context)),
      settings,
      show: (notice) => show(context, notice),
    });
    for (const { sessionId, error } of [...trashed.failures, ...removed.failures]) {
      await context.tell(`Cannot clean up ${sessionId}: ${error}`);
    }
  } catch (error) {
    context.log("warn", `retention failed: ${errorMessage(error)}`);
  }
}

/** Shown once, after the first save. */
function introduction(directory: string, { retentionDays }: RetentionSettings): string {
  const old =
    retentionDays !== undefined
      ? `. Conversations older than ${counted(retentionDays, "day")} are trashed, after a warning`
      : "";
  return `Conversations are saved in ${directory}${old}. To turn saving off: cody config set persistence.enabled false`;
}

/** Returns whether the text reached the terminal. */
async function show(context: CommandContext, text: string): Promise<boolean> {
  const { stderr } = context.terminal;
  await context.tell(text);
  await stderr.flush();
  return stderr.isTTY && !stderr.closed && stderr.failure === undefined;
}

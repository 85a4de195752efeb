import { stat } from "node:fs/promises";
import type { ConversationConfig } from "../../messages/conversation-config.js";
import { counted } from "../../messages/counted.js";
import type { OpenOutcome } from "../../messages/rollout-command.js";

/** A folder that is gone cannot be worked in: the conversation goes on in the present one. */
export async function existingFolder(
  config: ConversationConfig,
): Promise<{ config: ConversationConfig; notice: string | undefined }> {
  const { cwd, ...rest } = config;
  if (cwd === undefined) return { config, notice: undefined };
  const stats = await stat(cwd).catch(() => undefined);
  if (stats?.isDirectory() === true) return { config, notice: undefined };
  return { config: rest, notice: `The folder this conversation was in is gone: ${cwd}` };
}

export function tornNotice(outcome: OpenOutcome): string | undefined {
  if (outcome.status !== "open" || outcome.torn === undefined) return undefined;
  const { bytes, keptAs } = outcome.torn;
  return `The last line was torn by a crash: what there is of it (${counted(bytes, "byte")}) is kept in ${keptAs}`;
}

export function skippedNotice(skipped: number): string | undefined {
  return skipped === 0 ? undefined : `${skipped} line(s) of an unknown kind were passed over`;
}

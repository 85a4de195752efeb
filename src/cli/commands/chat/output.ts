import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../../../base/text/counted.js";
import type { CodyPayload } from "../../../messages/rollout-line.js";
import { blobFolder, blobHash } from "../../../rollouts/file/blobs.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { readRollout } from "../../../rollouts/file/read.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { findSavedRollout } from "../../conversations/choose-conversation.js";

type StoredOutput = Extract<CodyPayload, { type: "blob" }>;

/** Prints the whole of an output that the model saw only in part; without a call id, lists the stored outputs. */
export async function outputCommand(context: CommandContext): Promise<number> {
  const rollout = await findSavedRollout(context);
  context.about(rollout.id);
  const stored = await readStoredOutputs(rollout);
  const [, callId] = context.args;
  if (callId === undefined) {
    const rows = stored.map(({ call_id, bytes }) => `${call_id}  ${counted(bytes, "byte")}`);
    const text = rows.join("\n") || `${rollout.id}: no tool output was truncated`;
    await printResult(context, { text, json: stored });
    return 0;
  }
  const output = stored.findLast(({ call_id }) => call_id === callId);
  if (output === undefined) throw missing(callId, "not found. It was not truncated; the conversation has all of it");
  const path = join(blobFolder(rollout.path), output.sha256);
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || blobHash(bytes) !== output.sha256) throw missing(callId, "its file is missing or damaged");
  const text = bytes.toString();
  if (context.flags.json) await printResult(context, { text, json: { ...output, path, text } });
  else await context.terminal.stdout.write(text);
  return 0;
}

async function readStoredOutputs({ id, path }: RolloutName): Promise<StoredOutput[]> {
  const stored: StoredOutput[] = [];
  for await (const { line } of readRollout(path, id)) {
    if (line.type === "cody" && line.payload.type === "blob") stored.push(line.payload);
  }
  return stored;
}

function missing(callId: string, why: string): CommandError {
  return new CommandError(`Full output of ${callId}: ${why}`, exitCodes.failed);
}

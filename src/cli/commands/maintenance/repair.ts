import { ownerWithoutLocks } from "../../../actors/rollout-writer/rollout-locks.js";
import { saveFailureReason } from "../../../actors/rollout-writer/save-failure.js";
import { counted } from "../../../base/text/counted.js";
import { ConversationInUseError } from "../../../base/errors.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { lockHolder } from "../../../rollouts/file/lock.js";
import { nodeRepairFiles } from "../../../rollouts/file/replacement.js";
import { needsRepair, type RolloutScan, scanRollout } from "../../../rollouts/repair/repair-scan.js";
import { repairRollout } from "../../../rollouts/repair/repair-write.js";
import { CommandError, exitCodes } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { withRolloutLocked } from "./locked-rollout.js";
import { findSavedRollout } from "../../conversations/choose-conversation.js";

/** In the text output, further damaged lines are only counted. */
const maxShown = 20;

const madeFirstLine =
  "The first line, which identifies the conversation, is missing: it is rebuilt from the other lines";

/** Reports the damage in a conversation and what would remain; with --write also drops the damaged lines. */
export async function repairCommand(context: ContextOf<"repair">): Promise<number> {
  const rollout = await findSavedRollout(context);
  context.about(rollout.id);
  const { scan, backup } = context.flags.write ? await repaired(context, rollout) : await scanOnly(rollout);
  const text = reportText(rollout, scan, backup).join("\n");
  await printResult(context, { text, json: reportJson(rollout, scan, backup) });
  if (!context.flags.write) await reportLockHolder(context, rollout);
  if (scan.beginning === undefined) return 0;
  await context.tell(`The conversation still cannot be read: ${scan.beginning}`);
  return exitCodes.failed;
}

interface Outcome {
  readonly scan: RolloutScan;
  readonly backup: string | undefined;
}

async function scanOnly({ id, path }: RolloutName): Promise<Outcome> {
  return { scan: await scanRollout({ path, conversationId: id }), backup: undefined };
}

async function repaired(context: ContextOf<"repair">, rollout: RolloutName): Promise<Outcome> {
  const { id, path } = rollout;
  const request = { path, conversationId: id, now: new Date(), uid: process.getuid?.() ?? 0 };
  try {
    return await withRolloutLocked(context, rollout, () => repairRollout(nodeRepairFiles, request));
  } catch (error) {
    throw explained(error, id);
  }
}

function explained(error: unknown, id: string): unknown {
  if (error instanceof ConversationInUseError) {
    const { owner } = error;
    const isFar = owner.includes("another") || owner.includes("cannot be read");
    const hint = `If no other cody is using it: cody repair ${id} --write --force`;
    return new CommandError(`Conversation '${id}' is in use by ${owner}`, exitCodes.failed, isFar ? [hint] : []);
  }
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  return new CommandError(`Cannot repair conversation '${id}': ${saveFailureReason(error)}`, exitCodes.failed, [
    "Nothing was changed",
  ]);
}

async function reportLockHolder(context: ContextOf<"repair">, { path }: RolloutName): Promise<void> {
  const holder = await lockHolder(path, await ownerWithoutLocks()).catch(() => undefined);
  if (holder !== undefined)
    await context.tell(`The conversation is in use by ${holder}, which may be writing its last line`);
}

function reportText({ id }: RolloutName, scan: RolloutScan, backup: string | undefined): string[] {
  const { damaged, history, lines } = scan;
  const left = `${counted(history.turns, "turn")}, ${counted(history.items, "item")}`;
  if (!needsRepair(scan)) return [`${id}: no damage found`, `  Content: ${left}`];
  const verb = damaged.count === 1 ? ["is", "was"] : ["are", "were"];
  const share = `${damaged.count} of ${counted(lines, "line")}`;
  const hidden = damaged.count - Math.min(maxShown, damaged.listed.length);
  const facts = [
    ...damaged.listed.slice(0, maxShown).map(damagedText),
    ...(hidden > 0 ? [`and ${hidden} more`] : []),
    ...(scan.firstLine === undefined ? [] : [madeFirstLine]),
    ...(scan.unterminated ? ["The last line has no newline: one is added"] : []),
    `Remaining: ${left}`,
  ].map((fact) => `  ${fact}`);
  if (backup === undefined) {
    const hint = `Nothing was changed. To repair it: cody repair ${id} --write`;
    return [`${id}: ${share} ${verb[0]} damaged`, ...facts, hint];
  }
  return [`✓ Repaired ${id}: ${share} ${verb[1]} removed`, ...facts, `  The original is kept in ${backup}`];
}

function damagedText({ number, bytes, reason, rescued }: RolloutScan["damaged"]["listed"][number]): string {
  const rescuedText = rescued === 0 ? "" : `; ${counted(rescued, "complete line")} in it kept`;
  return `line ${number}: ${counted(bytes, "byte")}, ${reason}${rescuedText}`;
}

function reportJson({ id, path }: RolloutName, scan: RolloutScan, backup: string | undefined): object {
  const { damaged, history } = scan;
  return {
    id,
    path,
    lines: scan.lines,
    damagedLines: damaged.count,
    rescuedLines: damaged.rescued,
    damaged: damaged.listed.map(({ number, bytes, reason, rescued }) => ({ line: number, bytes, reason, rescued })),
    newlineMissing: scan.unterminated,
    firstLineMade: scan.firstLine !== undefined,
    history,
    unknownLines: scan.unknown,
    beginning: scan.beginning ?? null,
    repaired: backup !== undefined,
    backup: backup ?? null,
  };
}

import type { CompactionOutcome } from "../../../messages/compaction.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import type { QueuedChange } from "../state/cell.js";
import { compactHistory } from "./compact-history.js";
import { ContextSize } from "./context-size.js";
import { chooseStrategy, type PlanContext } from "./plan-compaction.js";
import { undoCompaction } from "./undo-compaction.js";
import { counted } from "../../../base/text/counted.js";
import type { ConversationContext } from "../turn/turn-world.js";

/** Runs an operation that changes the history between two turns. */
export async function runQueuedChange(
  world: ConversationContext,
  change: QueuedChange,
  signal: AbortSignal,
): Promise<CompactionOutcome | undefined> {
  if (change.kind === "compact") return await compactOnRequest(world, change, signal);
  if (change.kind === "undo_compaction") return await undoCompaction(world, change.submissionId);
  pinMessage(world, change);
  return undefined;
}

function pinMessage(
  { recording }: ConversationContext,
  { text, submissionId }: Extract<QueuedChange, { kind: "pin" }>,
): void {
  recording.line(
    {
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }], pinned: true },
    },
    submissionId,
  );
}

async function compactOnRequest(
  world: ConversationContext,
  { submissionId, instructions, strategy }: Extract<QueuedChange, { kind: "compact" }>,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { cell, rollout } = world;
  const refusal = strategyProblem(world, strategy) ?? belowTargetReason(world, strategy);
  if (refusal !== undefined) {
    world.publish({ type: "warning", message: refusal }, submissionId);
    return { status: "kept", reason: refusal };
  }
  const wish = {
    trigger: "manual",
    isUrgent: false,
    settings: cell.settings,
    submissionId,
    instructions,
    strategy,
  } as const;
  const outcome = await compactHistory(world, wish, signal);
  if (outcome.status === "compacted") {
    cell.attempts = { failures: 0, stalledAt: 0 };
    const saved = await rollout.flush();
    if (saved.status === "not_saved") {
      world.publish({ type: "warning", message: `Failed to save the compaction: ${saved.reason}` }, submissionId);
    }
  }
  return outcome;
}

/** Checks a strategy name that the user typed. */
export function strategyProblem({ parts }: PlanContext, name: string | undefined): string | undefined {
  const { strategies } = parts.compaction;
  if (name === undefined || strategies.has(name)) return undefined;
  return `Unknown compaction strategy ${name}. Strategies: ${[...strategies.keys()].join(", ")}`;
}

/** The strategy keeps recent turns unchanged, so below its target there is nothing to gain. */
function belowTargetReason(world: ConversationContext, asked: string | undefined): string | undefined {
  const { parts, cell } = world;
  const { settings } = cell;
  const strategy = chooseStrategy(parts, settings, asked);
  if (strategy.name !== "recent-turns") return undefined;
  const { active } = new ContextSize(parts, cell, settings);
  const target = Math.floor(parts.compaction.window(settings).tokens * COMPACT_TARGET);
  if (active > target) return undefined;
  return `Nothing to compact: the conversation has ${counted(active, "token")}, and the target of ${strategy.name} is ${target}`;
}

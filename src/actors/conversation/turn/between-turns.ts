import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { obstacleTexts, folderNotEmptyText } from "../../../changes/restore/obstacle.js";
import type { UndoOutcome } from "../../../changes/restore/restore.js";
import { COMPACT_TARGET } from "../../../compaction/constants.js";
import type { UndoReport } from "../../../messages/actors/conversation.js";
import type { CompactionOutcome } from "../../../messages/compaction.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { applyToHistory } from "../../../rollouts/file/history.js";
import type { QueuedChange } from "../state/live-state.js";
import type { ConversationContext } from "../conversation-context.js";
import { strategyName } from "../../../compaction/strategy-for.js";
import { compactHistory, recordCompaction } from "../compaction/compaction.js";
import { ContextSize } from "../compaction/context-size.js";

/** Maximum number of files listed; of more, only the count is shown. */
const maxNamed = 20;

/** Runs an operation that changes the history between two turns. */
export async function runQueuedChange(
  context: ConversationContext,
  change: QueuedChange,
  signal: AbortSignal,
): Promise<CompactionOutcome | undefined> {
  if (change.kind === "compact") return await compactOnRequest(context, change, signal);
  if (change.kind === "undo_compaction") return await undoCompaction(context, change.submissionId);
  pinMessage(context, change);
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
  context: ConversationContext,
  { submissionId, instructions, strategy }: Extract<QueuedChange, { kind: "compact" }>,
  signal: AbortSignal,
): Promise<CompactionOutcome> {
  const { cell, rollout } = context;
  const refusal = strategyProblem(context, strategy) ?? belowTargetReason(context, strategy);
  if (refusal !== undefined) {
    context.publish({ type: "warning", message: refusal }, submissionId);
    return { status: "kept", reason: refusal };
  }
  const request = {
    trigger: "manual",
    isUrgent: false,
    usesPrepared: false,
    settings: cell.settings,
    submissionId,
    instructions,
    strategy,
  } as const;
  const outcome = await compactHistory(context, request, signal);
  if (outcome.status === "compacted") {
    cell.attempts = { failures: 0, stalledAt: 0 };
    const saved = await rollout.flush();
    if (saved.status === "not_saved") {
      context.publish({ type: "warning", message: `Failed to save the compaction: ${saved.reason}` }, submissionId);
    }
  }
  return outcome;
}

/** Checks a strategy name that the user typed. */
export function strategyProblem(context: ConversationContext, name: string | undefined): string | undefined {
  const { strategies } = context.compaction;
  if (name === undefined || strategies.includes(name)) return undefined;
  return `Unknown compaction strategy ${name}. Strategies: ${strategies.join(", ")}`;
}

/** The strategy keeps recent turns unchanged, so below its target there is nothing to gain. */
function belowTargetReason(context: ConversationContext, requested: string | undefined): string | undefined {
  const { cell } = context;
  const { settings } = cell;
  const strategy = strategyName(settings.model, requested ?? context.compaction.settings.strategy);
  if (strategy !== "recent-turns") return undefined;
  const { active } = new ContextSize(context, settings);
  const target = Math.floor(context.compaction.window(settings).tokens * COMPACT_TARGET);
  if (active > target) return undefined;
  return `Nothing to compact: the conversation has ${counted(active, "token")}, and the target of ${strategy} is ${target}`;
}

/** Restores the history before the last compaction, plus the items since; automatic compactions are then suspended. */
async function undoCompaction(context: ConversationContext, submissionId: string): Promise<CompactionOutcome> {
  const { cell, rollout } = context;
  if (rollout.path === null) return { status: "kept", reason: "only a saved conversation can undo a compaction" };
  const saved = await rollout.flush();
  if (saved.status === "not_saved") return { status: "kept", reason: `the conversation is not saved: ${saved.reason}` };
  const items = await readHistoryBefore(context);
  if (typeof items === "string") return { status: "kept", reason: items };
  const size = new ContextSize(context, cell.settings);
  const [tokensBefore, tokensAfter] = [size.active, size.whole(items)];
  const { read_files = [], modified_files = [], strategy = "codex" } = cell.state.compaction ?? {};
  const result = {
    trigger: "undo",
    strategy,
    source: "model",
    items,
    tokensBefore,
    tokensAfter,
    truncatedCount: 0,
    files: { readFiles: read_files, modifiedFiles: modified_files },
  } as const;
  recordCompaction(context, result, submissionId);
  cell.attempts = { failures: 0, stalledAt: 0 };
  const { strategy: name, source, truncatedCount } = result;
  return { status: "compacted", strategy: name, tokensBefore, tokensAfter, summary: "", source, truncatedCount };
}

/** A file problem is returned as text for the user, not thrown. */
async function readHistoryBefore(context: ConversationContext): Promise<ResponseItem[] | string> {
  try {
    return (await historyBeforeCompaction(context.compaction.savedLines())) ?? "no compaction to undo";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Compaction {
  readonly before: readonly ResponseItem[];
  /** Number of items it left; later ones were added since. */
  readonly left: number;
}

/** Returns the history without the last compaction that was not undone; undefined when there is none. */
export async function historyBeforeCompaction(
  batches: AsyncIterable<readonly OwnLine[]>,
): Promise<ResponseItem[] | undefined> {
  const history: ResponseItem[] = [];
  const compactions: Compaction[] = [];
  for await (const lines of batches) for (const line of lines) followLine(line, history, compactions);
  const last = compactions.at(-1);
  return last === undefined ? undefined : [...last.before, ...history.slice(last.left)];
}

function followLine(line: OwnLine, history: ResponseItem[], compactions: Compaction[]): void {
  const before = line.type === "compacted" ? [...history] : [];
  applyToHistory(history, line);
  if (line.type === "cody" && line.payload.type === "history_replaced") compactions.length = 0;
  if (line.type !== "compacted") return;
  if (line.payload.cody?.trigger === "undo") compactions.pop();
  else compactions.push({ before, left: history.length });
}

/** Reverts the file changes of the last turn that made any; the history is unchanged. */
export async function undoChanges(context: ConversationContext, submissionId: string): Promise<UndoReport> {
  const { recording, publish } = context;
  publish({ type: "undo_started", message: "Reverting the last turn that changed files" }, submissionId);
  const report = await runUndo(context);
  recording.line({ type: "event_msg", payload: { type: "undo_completed", ...report } }, submissionId);
  return report;
}

async function runUndo(context: ConversationContext): Promise<UndoReport> {
  const { changes } = context;
  if (changes === undefined) return { success: false, message: "This conversation does not save file changes" };
  const outcome = await changes.pool.run("undo_turn", { places: changes.places, now: context.now().getTime() });
  return outcome.ok ? undoReport(outcome.value) : { success: false, message: outcome.failure.message };
}

function undoReport(outcome: UndoOutcome): UndoReport {
  if (outcome.status === "nothing") return { success: false, message: "No changes to undo" };
  if (outcome.status === "conflict") {
    const lines = outcome.obstacles.map(({ path, obstacle }) => `  ${visible(path)}: ${obstacleTexts[obstacle]}`);
    return { success: false, message: listLines("Nothing was changed; these files block the undo:", lines) };
  }
  const { root, restored, failed, staying } = outcome;
  const head = `Reverted the last turn that changed files, in ${root}:`;
  const failures = failed.map(({ path, reason }) => `  ${visible(path)} was not restored: ${reason}`);
  const folders = staying.map((path) => `  ${visible(path)}/ ${folderNotEmptyText}`);
  const lines = [...failures, ...folders, ...restored.map((path) => `  ${visible(path)}`)];
  if (lines.length === 0)
    return { success: true, message: `Nothing to change: all files in ${root} already have their earlier content` };
  return { success: failed.length === 0, message: listLines(head, lines) };
}

function listLines(head: string, lines: readonly string[]): string {
  const rest = lines.length > maxNamed ? [`  and ${lines.length - maxNamed} more`] : [];
  return [head, ...lines.slice(0, maxNamed), ...rest].join("\n");
}

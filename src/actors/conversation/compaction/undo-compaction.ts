import type { CompactionOutcome } from "../../../messages/compaction.js";
import type { ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { applyToHistory } from "../../../rollouts/file/history.js";
import { ContextSize } from "./context-size.js";
import { recordCompaction } from "./record-compaction.js";
import type { ConversationContext } from "../turn/turn-world.js";

/** Restores the history before the last compaction, plus the items since; automatic compactions are then suspended. */
export async function undoCompaction(world: ConversationContext, submissionId: string): Promise<CompactionOutcome> {
  const { parts, cell, rollout } = world;
  if (rollout.path === null) return { status: "kept", reason: "only a saved conversation can undo a compaction" };
  const saved = await rollout.flush();
  if (saved.status === "not_saved") return { status: "kept", reason: `the conversation is not saved: ${saved.reason}` };
  const items = await readHistoryBefore(world);
  if (typeof items === "string") return { status: "kept", reason: items };
  const size = new ContextSize(parts, cell, cell.settings);
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
  recordCompaction(world, result, submissionId);
  cell.attempts = { failures: 0, stalledAt: 0 };
  const { strategy: name, source, truncatedCount } = result;
  return { status: "compacted", strategy: name, tokensBefore, tokensAfter, summary: "", source, truncatedCount };
}

/** A file problem is returned as text for the user, not thrown. */
async function readHistoryBefore({ parts }: ConversationContext): Promise<ResponseItem[] | string> {
  try {
    return (await historyBeforeCompaction(parts.compaction.savedLines())) ?? "no compaction to undo";
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

import { condenseRollout } from "../../actors/conversation/store/condense-rollout.js";
import { undoLastTurn } from "../../changes/restore/restore.js";
import { diffChanges, endSnapshot, takeSnapshot } from "../../changes/workspace/snapshot.js";
import { exactTokens } from "../../compaction/tokens/exact-tokens.js";
import type { CpuJobs } from "../cpu-pool.js";
import { lowerThreadPriority, serveJobs, pack } from "../jobs.js";
import { refuseOtherBuild } from "../same-build.js";

refuseOtherBuild();
lowerThreadPriority();

/** Imported on demand, because its schemas take longer to load than most jobs take to run. */
const historyJobs = () => import("../history-jobs.js");

export default serveJobs<CpuJobs>({
  load_encoding: async ({ encoding }) => {
    await exactTokens([], encoding);
    return null;
  },
  count_tokens: async ({ texts, encoding }) => ({ counts: await exactTokens(texts, encoding) }),
  condense_rollout: async (segment) => {
    const condensed = await condenseRollout(segment);
    if (condensed.status !== "read") return condensed;
    return { ...condensed, shown: condensed.shown.map(pack), pieces: condensed.pieces.map(pack) };
  },
  extract_summary: async ({ items, previousSummary }) => {
    // Imported on demand, like the jobs above.
    const { extractSummary } = await import("../../compaction/summary/extract-summary.js");
    return { text: extractSummary(items, previousSummary) };
  },
  count_history: async (job) => (await historyJobs()).countStored(job),
  plan_compaction: async (job) => (await historyJobs()).planStored(job),
  build_compaction: async (job) => (await historyJobs()).buildStored(job),
  take_snapshot: (request) => takeSnapshot(request),
  end_snapshot: (request) => endSnapshot(request),
  diff_changes: ({ changes, maxChars }) => diffChanges(changes).turnDiff({ maxChars }),
  undo_turn: ({ places, now }) => undoLastTurn(places, new Date(now)),
});

import { condenseRollout } from "../../actors/conversation/condense-rollout.js";
import { exactTokens } from "../../compaction/exact-tokens.js";
import { extractSummary } from "../../compaction/extract-summary.js";
import type { CpuJobs } from "../cpu-jobs.js";
import { giveWay } from "../give-way.js";
import { pack } from "../pack.js";
import { serveJobs } from "../serve-jobs.js";

giveWay();

export default serveJobs<CpuJobs>({
  count_tokens: async ({ texts, encoding }) => ({ counts: await exactTokens(texts, encoding) }),
  extract_summary: ({ items, previousSummary }) => ({ text: extractSummary(items, previousSummary) }),
  condense_rollout: async (stretch) => {
    const condensed = await condenseRollout(stretch);
    return condensed.status === "read" ? { ...condensed, pieces: condensed.pieces.map(pack) } : condensed;
  },
});

import { exactTokens } from "../../compaction/exact-tokens.js";
import type { CpuJobs } from "../cpu-jobs.js";
import { giveWay } from "../give-way.js";
import { serveJobs } from "../serve-jobs.js";

giveWay();

export default serveJobs<CpuJobs>({
  count_tokens: async ({ texts, encoding }) => ({ counts: await exactTokens(texts, encoding) }),
  load_rollout: async (input) => {
    // Only who reads rollouts needs the schema library.
    const { foldRollout } = await import("../../actors/conversation/fold-rollout.js");
    return await foldRollout(input);
  },
});

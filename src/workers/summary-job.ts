import { estimateTokens } from "../compaction/tokens/estimate-tokens.js";
import type { SummaryRequest } from "../compaction/summary/request-summary.js";
import { offlineProvider } from "../providers/offline/provider.js";
import type { Provider } from "../providers/provider.js";
import type { Transport } from "../providers/transport/transport.js";
import { loadWireApi, wireProvider } from "../providers/wire-provider.js";
import type { StoredSummary } from "./history-jobs.js";
import type { IoJobs, SummaryTarget } from "./io-pool.js";
import type { JobBodies } from "./jobs.js";
import { summarize } from "./summarize.js";

/**
 * Creates the jobs' implementations for one thread. The connections belong to the thread, so that the next summary can
 * reuse them; the provider belongs to the job, because it holds the key or token.
 */
export function summaryJobs(): JobBodies<IoJobs> {
  const transports = new Map<string, Promise<Transport>>();
  const transportFor = (env: Readonly<Record<string, string>>): Promise<Transport> => {
    const proxies = JSON.stringify(env);
    const transport = transports.get(proxies) ?? connect(env);
    transports.set(proxies, transport);
    return transport;
  };
  return {
    load_provider: async (target) => {
      if (target.kind === "wire") await loadWireApi(target.api, await transportFor(target.env));
      return null;
    },
    summarize: async ({ target, request, retry }, signal) =>
      summarize(providerOf(target, transportFor), await builtRequest(request), { signal, retry }),
  };
}

/** Reads the history of a request that is still in its rollout. */
export async function builtRequest(request: SummaryRequest | StoredSummary): Promise<SummaryRequest> {
  if (!("source" in request)) return request;
  const { storedSummaryRequest } = await import("./history-jobs.js");
  return await storedSummaryRequest(request);
}

function providerOf(
  target: SummaryTarget,
  transportFor: (env: Readonly<Record<string, string>>) => Promise<Transport>,
): Provider {
  if (target.kind === "offline") return offlineProvider({ countTokens: estimateTokens });
  const { env, credential, ...reached } = target;
  return wireProvider({ ...reached, transport: () => transportFor(env), credential: () => credential });
}

/** Loaded on first use: the offline model does not need it. */
async function connect(env: Readonly<Record<string, string>>): Promise<Transport> {
  const { createTransport } = await import("../providers/transport/node-transport.js");
  return createTransport(env);
}

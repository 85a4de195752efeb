import type { RetryPolicy } from "../base/time/retry.js";
import type { WireApi } from "../messages/settings/config.js";
import { type Credential, secretOf } from "../providers/credential.js";
import { failureText } from "../providers/failures/answer-error.js";
import { entryUrl } from "./entry-url.js";
import { Pool, type PoolOptions } from "./pool.js";
import type { SummaryRequest } from "../compaction/summary/request-summary.js";
import type { SummaryOutcome } from "../messages/actors/compactor.js";
import type { StoredSummary } from "./history-jobs.js";

export type IoPool = Pool<IoJobs>;

const mebibyte = 1024 * 1024;

export const ioPoolLimits: Omit<PoolOptions<IoJobs>, "entry"> = {
  threads: 2,
  jobsPerThread: 8,
  maxHeapMb: 512,
  idleMs: 30_000,
  deadlineMs: { load_provider: 10_000, summarize: 120_000 },
  graceMs: 2_000,
  maxWaiting: 64,
  maxJobBytes: 16 * mebibyte,
  maxBytes: 64 * mebibyte,
};

/**
 * Opens the pool for jobs that mostly wait. It is separate, because a token count must not queue behind a model's
 * answer.
 */
export function openIoPool(): IoPool {
  return new Pool<IoJobs>({
    ...ioPoolLimits,
    get entry() {
      return entryUrl("io");
    },
  });
}

/** The jobs of the pool for waiting. */
export type IoJobs = {
  /** Loads what a request to the target needs. */
  readonly load_provider: {
    readonly input: Pick<WireTarget, "kind" | "api" | "env"> | OfflineTarget;
    readonly output: null;
  };
  readonly summarize: {
    readonly input: {
      readonly target: SummaryTarget;
      readonly request: SummaryRequest | StoredSummary;
      readonly retry?: RetryPolicy | undefined;
    };
    readonly output: SummaryOutcome;
  };
};

/** The model to ask, as plain data for a thread. */
export type SummaryTarget = WireTarget | OfflineTarget;

interface WireTarget {
  readonly kind: "wire";
  readonly provider: string;
  readonly api: WireApi;
  /** Undefined: the vendor's default address. */
  readonly baseUrl: string | undefined;
  /** Undefined if none is needed. Only this job may use it, and no outcome contains it. */
  readonly credential: Credential | undefined;
  /** Explains where the credential comes from and how to change it. */
  readonly origin?: string | undefined;
  /** The proxy variables; a thread must not see the rest of the environment. */
  readonly env: Readonly<Record<string, string>>;
}

interface OfflineTarget {
  readonly kind: "offline";
}

/** Asks a model for a summary in a thread of the pool; a failure of the thread is an outcome too. */
export async function summarizeInThread(
  pool: IoPool,
  target: SummaryTarget,
  request: SummaryRequest | StoredSummary,
  signal: AbortSignal,
  retry?: RetryPolicy,
): Promise<SummaryOutcome> {
  const outcome = await pool.run("summarize", { target, request, retry }, { signal });
  if (outcome.ok) return outcome.value;
  const { failure } = outcome;
  if (failure.code === "aborted") return { status: "aborted" };
  // The message of a dead thread may contain anything, including the key.
  const apiKey = target.kind === "wire" ? secretOf(target.credential) : undefined;
  const message = failureText(failure.message, { apiKey });
  return { status: "failed", failure: { ...failure, message }, truncatedCount: 0 };
}

import { countedItem } from "../../compaction/tokens/counted-item.js";
import type { ResponseItem } from "../../messages/response-item.js";
import { countTokens } from "../../workers/count-tokens.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import type { Actor } from "../runtime/actor.js";
import type { SummaryProvider, Summarizer, SummaryOutcome, SummaryRequest } from "./summarizer.js";
import type { TokenCounts } from "./token-counts.js";

export interface CompactorOptions {
  readonly cpu: CpuPool;
  readonly summarizer: Summarizer;
  readonly counts: TokenCounts;
}

/** A summary made ahead of time of the items before `cut`; `last` is the item just before it. */
export interface Prepared {
  readonly cut: number;
  readonly last: ResponseItem;
  readonly outcome: SummaryOutcome;
}

export type CompactorOp =
  | { readonly type: "count"; readonly items: readonly ResponseItem[]; readonly model: string }
  | { readonly type: "summarize"; readonly by: SummaryProvider; readonly request: SummaryRequest }
  | { readonly type: "extract"; readonly items: readonly ResponseItem[]; readonly previousSummary: string | undefined }
  | {
      readonly type: "prepare";
      readonly conversationId: string;
      readonly cut: number;
      readonly last: ResponseItem;
      readonly by: SummaryProvider;
      readonly request: SummaryRequest;
    }
  | { readonly type: "prepared"; readonly conversationId: string; readonly wait: boolean }
  | { readonly type: "forget"; readonly conversationId: string };

export interface CompactorAnswers {
  readonly summarize: SummaryOutcome;
  readonly extract: string;
  readonly prepared: Prepared | "running" | undefined;
}

interface Preparation {
  readonly ending: AbortController;
  readonly done: Promise<Prepared | undefined>;
  isRunning: boolean;
}

/** Counts tokens, summarizes, and keeps summaries made ahead of time. The pools do all of its work. */
export const compactor: Actor<CompactorOp, CompactorAnswers, CompactorOptions> = {
  name: "compactor",
  start: ({ cpu, summarizer, counts }) => {
    const preparations = new Map<string, Preparation>();

    function forget(conversationId: string): void {
      preparations.get(conversationId)?.ending.abort();
      preparations.delete(conversationId);
    }

    async function prepare(op: Extract<CompactorOp, { type: "prepare" }>): Promise<void> {
      const { conversationId, cut, last, by, request } = op;
      forget(conversationId);
      const ending = new AbortController();
      const done = summarizer
        .summarize(by, request, ending.signal)
        .then((outcome) => (outcome.status === "done" && outcome.text !== "" ? { cut, last, outcome } : undefined));
      const preparation: Preparation = { ending, done, isRunning: true };
      preparations.set(conversationId, preparation);
      await done;
      preparation.isRunning = false;
    }

    return {
      count: async ({ items, model }) => {
        const uncounted = counts.uncounted(items, model);
        if (uncounted.length === 0) return;
        const outcome = await countTokens(
          cpu,
          uncounted.map((item) => countedItem(item).text),
          model,
        );
        // Items that cannot be counted keep their estimate.
        if (!outcome.ok) return;
        for (const [index, item] of uncounted.entries()) counts.set(item, model, outcome.value[index] ?? 0);
      },
      summarize: ({ by, request }, signal) => summarizer.summarize(by, request, signal),
      extract: ({ items, previousSummary }) => summarizer.extract(items, previousSummary),
      // Not awaited: no caller waits for its end, and the mailbox is bounded.
      prepare: (op) => void prepare(op),
      prepared: async ({ conversationId, wait }) => {
        const preparation = preparations.get(conversationId);
        return preparation?.isRunning === true && !wait ? "running" : await preparation?.done;
      },
      forget: ({ conversationId }) => forget(conversationId),
      [Symbol.asyncDispose]: async () => {
        for (const conversationId of preparations.keys()) forget(conversationId);
      },
    };
  },
};

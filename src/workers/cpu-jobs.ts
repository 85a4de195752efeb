import type { Encoding } from "../compaction/encoding-of.js";

/** What the pool for computing can do. */
export type CpuJobs = {
  readonly count_tokens: {
    readonly input: { readonly texts: readonly string[]; readonly encoding: Encoding };
    readonly output: { readonly counts: readonly number[] };
  };
  readonly load_rollout: {
    readonly input: { readonly path: string; readonly conversationId: string };
    readonly output: FoldedRollout;
  };
};

/** A rollout that was read in a thread; errors lose their fields on the way, so damage is data. */
export type FoldedRollout =
  | {
      readonly status: "folded";
      /** The packed state without its history. */
      readonly state: Uint8Array;
      /** Packed lists of items: one after another they are the history, and reading one never takes long. */
      readonly history: readonly Uint8Array[];
      readonly bytes: number;
      readonly skipped: number;
    }
  | { readonly status: "corrupted"; readonly line: number; readonly detail: string };

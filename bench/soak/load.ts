import type { WireApi } from "../../src/messages/settings/config.js";
import type { Findings } from "./checks.js";

/** The work of the client of a soak. */
export interface SoakLoad {
  readonly seconds: number;
  /** The number of conversations open at a time. */
  readonly conversations: number;
  /** Turns until a conversation is replaced by a new one, so that growing histories do not hide a leak. */
  readonly turnsEach: number;
  /** An empty folder for all saved files. */
  readonly directory: string;
  /** The URL of the server of each API. */
  readonly urls: Readonly<Record<WireApi, string>>;
}

export type Counts = Record<string, number>;

export interface MemorySample {
  /** Seconds since the first turn. */
  readonly second: number;
  readonly rss: number;
  /** The size of the live heap, if garbage was just collected. */
  readonly live: number | undefined;
}

/** The results of the client. */
export interface SoakReport {
  /** The number of turns submitted to each conversation, by its id. */
  readonly submitted: Counts;
  readonly deltas: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Counts of how turns ended and of the reasons for retries, by code. */
  readonly ends: Counts;
  readonly retries: Counts;
  readonly findings: Findings;
  readonly memory: readonly MemorySample[];
  /** The milliseconds from each interrupt to the end of its turn. */
  readonly interruptMs: readonly number[];
  /** Files that the process still has open after the shutdown; undefined if unknown. */
  readonly leftOpen: readonly string[] | undefined;
}

/** The results of the server. */
export interface ServerReport {
  readonly requests: number;
  readonly faults: Counts;
  /** Counts of the reasons for which requests without a fault were refused. */
  readonly refusals: Counts;
}

export function add(counts: Counts, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

export function total(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

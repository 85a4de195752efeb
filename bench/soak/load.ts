import type { WireApi } from "../../src/messages/config.js";
import type { Findings } from "./checks.js";

/** What the client of a soak has to do. */
export interface SoakLoad {
  readonly seconds: number;
  /** How many are open at a time. */
  readonly conversations: number;
  /** After so many turns a conversation is closed and another one opened: history must not be what fills the memory. */
  readonly turnsEach: number;
  /** An empty folder for everything that is saved. */
  readonly directory: string;
  /** The address of the server of each API. */
  readonly urls: Readonly<Record<WireApi, string>>;
}

export type Counts = Record<string, number>;

export interface MemorySample {
  /** Since the first turn. */
  readonly second: number;
  readonly rss: number;
  /** The heap without what is dead, where it was just collected. */
  readonly live: number | undefined;
}

/** What the client has seen. */
export interface SoakReport {
  /** How many turns each conversation was given, by its id. */
  readonly submitted: Counts;
  readonly deltas: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** How turns ended, and what requests were sent again for, by code. */
  readonly ends: Counts;
  readonly retries: Counts;
  readonly findings: Findings;
  readonly memory: readonly MemorySample[];
  /** How long it took from each interrupt to the end of its turn. */
  readonly interruptMs: readonly number[];
  /** What the process still has open after the shutdown; undefined where that cannot be seen. */
  readonly leftOpen: readonly string[] | undefined;
}

/** What the server has done. */
export interface ServerReport {
  readonly requests: number;
  readonly faults: Counts;
  /** Why requests were refused that no fault was meant for. */
  readonly refusals: Counts;
}

export function add(counts: Counts, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

export function total(counts: Readonly<Counts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

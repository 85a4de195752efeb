/** `npm test` plays a few rounds of each fault, `npm run crash` enough rounds to hit rare moments. */
const isFull = process.env["CODY_CRASH"] === "full";

export const rounds = isFull
  ? { kills: 200, contentions: 50, stops: 12, effects: 300, orphans: 100, patches: 100, interrupts: 200 }
  : { kills: 8, contentions: 2, stops: 1, effects: 6, orphans: 5, patches: 4, interrupts: 8 };

/** How many approved calls are answered by processes that die; five of six kill their process right after the effect. */
export const answering = isFull ? { calls: 600, timeoutMs: 7_200_000 } : { calls: 6, timeoutMs: 60_000 };

/** How many randomly chosen fault points are tried. */
export const points = isFull
  ? { faults: Infinity, crashStates: Infinity, deaths: Infinity, sizes: Infinity }
  : { faults: 25, crashStates: 100, deaths: 6, sizes: 12 };

/** How many damaged rollouts are read, which share of them is repaired, and how many files the other tests use. */
export const fuzzing = isFull
  ? {
      lines: 200_000,
      repairEvery: 3,
      inStretches: 3_000,
      large: 100,
      resumed: 3_000,
      imports: 10_000,
      timeoutMs: 3_600_000,
    }
  : { lines: 2_000, repairEvery: 3, inStretches: 60, large: 2, resumed: 60, imports: 400, timeoutMs: 120_000 };

/**
 * For truncated answers: the distance between tried offsets, and how many run at once; stalls take longer, so fewer are
 * tried.
 */
export const truncation = isFull
  ? {
      streams: { end: { every: 1, lanes: 16 }, reset: { every: 1, lanes: 16 }, stall: { every: 1, lanes: 32 } },
      turns: { end: { every: 1, lanes: 16 }, reset: { every: 1, lanes: 16 }, stall: { every: 1, lanes: 32 } },
      timeoutMs: 3_600_000,
    }
  : {
      streams: { end: { every: 32, lanes: 16 }, reset: { every: 64, lanes: 16 }, stall: { every: 128, lanes: 32 } },
      turns: { end: { every: 400, lanes: 16 }, reset: { every: 400, lanes: 16 }, stall: { every: 800, lanes: 32 } },
      timeoutMs: 60_000,
    };

/** How many random sequences of operations run, and how many at once. */
export const sequences = isFull
  ? { count: 5_000, lanes: 6, timeoutMs: 7_200_000 }
  : { count: 48, lanes: 4, timeoutMs: 120_000 };

/** How many processes share a login, and how often its token expires. */
export const expiries = isFull ? { processes: 20, rounds: 50 } : { processes: 4, rounds: 4 };

/** How many random interleavings of three clients of one conversation are tried, and how often its process is killed. */
export const interleavings = isFull
  ? { count: 200, kills: 100, timeoutMs: 900_000 }
  : { count: 12, kills: 4, timeoutMs: 60_000 };

/** How many hostile patches are applied. */
export const hostilePatching = isFull
  ? { patches: 10_000, timeoutMs: 3_600_000 }
  : { patches: 300, timeoutMs: 120_000 };

/** How many threads that host conversations die, and how many of them hang, which takes ten seconds each. */
export const shardDeaths = isFull
  ? { deaths: 1_000, loops: 10, conversations: 200, threads: 4, killers: 6, timeoutMs: 3_600_000 }
  : { deaths: 12, loops: 0, conversations: 8, threads: 2, killers: 1, timeoutMs: 60_000 };

/** How long a process is suspended, and how many turns it plays afterwards. A thread that hangs is noticed after 10 s. */
export const suspension = isFull ? { ms: 30_000, turns: 2_000 } : { ms: 12_000, turns: 200 };

const minutes = Number(process.env["CODY_CRASH_MINUTES"] ?? 15);

/** Kills of processes that only append: as many as fit into the time. */
export const appending = isFull
  ? { kills: 10_000, withinMs: minutes * 60_000, timeoutMs: minutes * 60_000 + 120_000 }
  : { kills: 16, withinMs: 20_000, timeoutMs: 60_000 };

export const timeoutMs = isFull ? 900_000 : 60_000;

/** Prints a summary of a full run. */
export function summarize(text: string): void {
  // Not console.log: vitest adds a heading to it and may delay it.
  if (isFull) process.stdout.write(`${text}\n`);
}

/** The seed of a failed run can be passed in to repeat it. */
export function firstSeed(): number {
  const given = process.env["CODY_CRASH_SEED"];
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

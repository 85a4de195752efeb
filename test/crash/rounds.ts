/** `npm test` plays a few rounds of each fault, `npm run crash` as many as it takes to meet the rare moments. */
const isFull = process.env["CODY_CRASH"] === "full";

export const rounds = isFull
  ? { kills: 200, fights: 50, stops: 12, effects: 300, orphans: 100, patches: 100 }
  : { kills: 8, fights: 2, stops: 1, effects: 6, orphans: 5, patches: 4 };

/** How many of the points at which something can go wrong are tried, chosen by chance. */
export const points = isFull
  ? { faults: Infinity, crashStates: Infinity, deaths: Infinity, sizes: Infinity }
  : { faults: 25, crashStates: 100, deaths: 6, sizes: 12 };

/** Rollouts with something wrong with them: so many lines, of which every so many are repaired; files for other ways. */
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

/** Answers that stop at a byte: one of so many bytes is tried, so many at once; silence takes its time. */
export const cutting = isFull
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

/** Random lives of conversations, so many at once. */
export const sequences = isFull
  ? { count: 5_000, lanes: 6, timeoutMs: 7_200_000 }
  : { count: 48, lanes: 4, timeoutMs: 120_000 };

/** Processes that share a login, and how often its token ends. */
export const expiries = isFull ? { processes: 20, rounds: 50 } : { processes: 4, rounds: 4 };

/** Patches with something wrong with them or with where they go. */
export const hostility = isFull ? { patches: 10_000, timeoutMs: 3_600_000 } : { patches: 300, timeoutMs: 120_000 };

const minutes = Number(process.env["CODY_CRASH_MINUTES"] ?? 15);

/** Kills of processes that do nothing but append: as many as fit into the time. */
export const appending = isFull
  ? { kills: 10_000, withinMs: minutes * 60_000, timeoutMs: minutes * 60_000 + 120_000 }
  : { kills: 16, withinMs: 20_000, timeoutMs: 60_000 };

export const timeoutMs = isFull ? 900_000 : 60_000;

/** Counts are worth a line only when there are many. */
export function summarize(text: string): void {
  // Not console.log: vitest adds a heading to it and may hold it back.
  if (isFull) process.stdout.write(`${text}\n`);
}

/** What a failed run was begun with can be given to the next one. */
export function firstSeed(): number {
  const given = process.env["CODY_CRASH_SEED"];
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

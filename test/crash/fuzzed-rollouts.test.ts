import { join } from "node:path";
import { expect, onTestFailed, test } from "vitest";
import { checkReading, checkRepair } from "./fuzz-checks.js";
import { copyParentRollouts, sourceRollouts } from "./fuzz-sources.js";
import { damageKinds, fuzzedRollout } from "./fuzzed-rollout.js";
import { fuzzing, summarize } from "./rounds.js";
import { newWorld } from "./world.js";

/** CPU seconds for the files that are read at a time; wall time would count other processes too. */
const maxSeconds = 2;
const atOnce = 4;
const maxWrong = 20;

test(
  "a damaged rollout is read, or refused with a line number and then repaired",
  async () => {
    const { home, random } = await newWorld();
    const sources = await sourceRollouts();
    await copyParentRollouts(home);
    const seen = { files: 0, lines: 0, read: 0, refused: 0, damaged: 0, repaired: 0, slowest: 0 };
    const wrong: string[] = [];
    onTestFailed(() => void process.stderr.write(`it came to file ${seen.files}\n`));
    while (seen.lines < fuzzing.lines && wrong.length < maxWrong) {
      const begun = process.cpuUsage();
      await Promise.all(Array.from({ length: atOnce }, (_, place) => judgeNext(join(home, `conv_${place}.jsonl`))));
      const { user, system } = process.cpuUsage(begun);
      const seconds = (user + system) / 1e6;
      if (seconds > maxSeconds) wrong.push(`the files before ${seen.files} took ${seconds} s`);
      seen.slowest = Math.max(seen.slowest, seconds);
    }
    expect(wrong).toEqual([]);
    expect(seen.files).toBeGreaterThan(damageKinds.length);
    expect(Math.min(seen.read, seen.refused, seen.damaged)).toBeGreaterThan(seen.files / 10);
    // No file may pollute Object.prototype.
    expect(Object.keys(Object.prototype)).toEqual([]);
    summarize(
      `fuzzed rollouts: ${seen.lines} lines in ${seen.files} files with ${damageKinds.length} kinds of damage, 0 wrong, ${seen.read} read, ` +
        `${seen.refused} refused, ${seen.repaired} of ${seen.damaged} repaired, the slowest ${atOnce} in ${seen.slowest.toFixed(2)} s`,
    );

    async function judgeNext(path: string): Promise<void> {
      const number = seen.files;
      const { content, damages } = fuzzedRollout(sources, random, number);
      seen.files += 1;
      const found = await judge(path, content).catch((error: unknown) => [String(error)]);
      wrong.push(...found.map((words) => `file ${number} (${damages.join(", ")}): ${words}`));
    }

    async function judge(path: string, content: Buffer): Promise<readonly string[]> {
      const { outcome, lines, isDamaged, wrong: found } = await checkReading(path, content);
      seen.lines += lines;
      seen[outcome] += 1;
      if (!isDamaged) return found;
      seen.damaged += 1;
      if (seen.damaged % fuzzing.repairEvery > 0) return found;
      seen.repaired += 1;
      return [...found, ...(await checkRepair(path, content))];
    }
  },
  fuzzing.timeoutMs,
);

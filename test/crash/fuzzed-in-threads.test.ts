import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { fileLines, foldLines, loadLargeRollout } from "../../src/actors/conversation/store/load-rollout.js";
import { fileStore } from "../../src/actors/conversation/store/file-store.js";
import type { StoredState } from "../../src/actors/conversation/store/store.js";
import { CorruptedRolloutError } from "../../src/base/errors.js";
import { type CpuPool, openCpuPool } from "../../src/workers/cpu-pool.js";
import { writeLargeRollout } from "../support/large-rollout.js";
import { copyParentRollouts, sourceRollouts } from "./fuzz-sources.js";
import { fuzzedRollout } from "./fuzzed-rollout.js";
import { fuzzing, summarize } from "./rounds.js";
import { newWorld } from "./world.js";
import { plainRedactor } from "../support/redaction.js";

const id = "conv_fuzzed";
/** Larger rollouts are read in threads by the store. */
const largeBytes = 4 * 1024 * 1024;

function openPool(): CpuPool {
  const pool = openCpuPool();
  onTestFinished(() => pool.close());
  return pool;
}

/** The state read from a rollout; an error as its message, because errors from threads are other objects. */
async function outcomeOf(reading: Promise<StoredState>): Promise<unknown> {
  return await reading.catch((error: unknown) => {
    if (!(error instanceof CorruptedRolloutError)) throw error;
    return error.message;
  });
}

test(
  "a damaged rollout is read by threads as by the main thread",
  async () => {
    const { home, random } = await newWorld();
    const path = join(home, `${id}.jsonl`);
    const [sources, pool] = [await sourceRollouts(), openPool()];
    await copyParentRollouts(home);
    const wrong: string[] = [];
    const seen = { read: 0, refused: 0 };
    for (let file = 0; file < fuzzing.inStretches; file += 1) {
      const { content, damages } = fuzzedRollout(sources, random, file);
      await writeFile(path, content);
      const segmentBytes = random.magnitude(50, 10_000);
      const rollout = { path, conversationId: id, bytes: content.length, segmentBytes };
      const here = await outcomeOf(foldLines(fileLines(path, id)));
      const there = await outcomeOf(loadLargeRollout(pool, rollout)).catch(String);
      if (!isDeepStrictEqual(here, there)) wrong.push(`file ${file} in ${segmentBytes} bytes (${damages.join(", ")})`);
      seen[typeof here === "string" ? "refused" : "read"] += 1;
    }
    expect(wrong).toEqual([]);
    summarize(`fuzzed rollouts in threads: ${seen.read} read, ${seen.refused} refused, 0 otherwise than here`);
  },
  fuzzing.timeoutMs,
);

test(
  "a damaged large rollout is loaded as a small one would be",
  async () => {
    const { home, random } = await newWorld();
    const directory = join(home, "conversations");
    const path = join(directory, `${id}.jsonl`);
    await mkdir(directory);
    await writeLargeRollout(path, id, largeBytes);
    const large = await readFile(path);
    const places = {
      layout: "cody",
      directory,
      elsewhere: [],
      alsoListed: [],
      codexHome: undefined,
      home: "",
    } as const;
    const store = fileStore({
      places,
      outbox: undefined,
      pool: openPool(),
      redactor: plainRedactor,
      secrets: [],
      maxBlobBytes: 0,
    });
    const sources = await sourceRollouts();
    await copyParentRollouts(directory);
    const wrong: string[] = [];
    const seen = { read: 0, refused: 0, bytes: 0 };
    for (let file = 0; file < fuzzing.large; file += 1) {
      const { content, damages } = fuzzedRollout(sources, random, file);
      const at = large.indexOf("\n", random.whole(0, large.length - 1)) + 1;
      await writeFile(path, Buffer.concat([large.subarray(0, at), content, large.subarray(at)]));
      const here = await outcomeOf(foldLines(fileLines(path, id)));
      const there = await outcomeOf(store.load(id)).catch(String);
      if (!isDeepStrictEqual(here, there)) wrong.push(`file ${file} at byte ${at} (${damages.join(", ")})`);
      seen[typeof here === "string" ? "refused" : "read"] += 1;
      seen.bytes += (await stat(path)).size;
    }
    expect(wrong).toEqual([]);
    const mebibytes = Math.round(seen.bytes / 1024 / 1024);
    summarize(
      `large fuzzed rollouts: ${mebibytes} MiB, ${seen.read} read, ${seen.refused} refused, 0 otherwise than here`,
    );
  },
  fuzzing.timeoutMs,
);

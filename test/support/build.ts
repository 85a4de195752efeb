import { readdir } from "node:fs/promises";
import { buildIfNeeded } from "../../scripts/build.mjs";
import { bundle } from "../../scripts/bundle.mjs";

/** Builds everything first, because thread entries and the command line are tested in their built form. */
export default async function setup(): Promise<void> {
  await Promise.all([buildIfNeeded(), buildTestThreads(), buildTestChildren()]);
}

/** Builds threads and processes that only tests start; `test/support/test-thread.ts` returns their URLs. */
async function buildTestThreads(): Promise<void> {
  await bundle({ format: "esm", input: await sourcesIn("test/support/threads"), directory: "build/test-threads" });
}

/**
 * Builds child processes that only tests start, with the entries of their threads beside them as in `dist`;
 * `test/crash/child.ts` starts them.
 */
async function buildTestChildren(): Promise<void> {
  const directory = "build/test-children/dist";
  const entries = ["rollout-writer", "shard"].map((name) => [
    `workers/entries/${name}`,
    `src/workers/entries/${name}.ts`,
  ]);
  await Promise.all([
    bundle({ format: "esm", input: await sourcesIn("test/support/children"), directory: `${directory}/children` }),
    bundle({ format: "cjs", input: Object.fromEntries(entries) as Record<string, string>, directory }),
  ]);
}

async function sourcesIn(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder);
  return Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), `${folder}/${file}`]));
}

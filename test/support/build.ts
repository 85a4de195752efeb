import { readdir } from "node:fs/promises";
import { buildIfNeeded } from "../../scripts/build.mjs";
import { bundle } from "../../scripts/bundle.mjs";

/** Thread entries and the command line are tested as they are built, so the build comes first. */
export default async function setup(): Promise<void> {
  await Promise.all([buildIfNeeded(), buildTestThreads(), buildTestChildren()]);
}

/** Threads and processes that only tests start; `test/support/test-thread.ts` finds them. */
async function buildTestThreads(): Promise<void> {
  await bundle({ format: "esm", input: await sourcesIn("test/support/threads"), directory: "build/test-threads" });
}

/** Processes that only tests start, with the writer's thread beside them as in `dist`; `test/crash/child.ts` finds them. */
async function buildTestChildren(): Promise<void> {
  const directory = "build/test-children/dist";
  const writer = { "workers/entries/rollout-writer": "src/workers/entries/rollout-writer.ts" };
  await Promise.all([
    bundle({ format: "esm", input: await sourcesIn("test/support/children"), directory: `${directory}/children` }),
    bundle({ format: "cjs", input: writer, directory }),
  ]);
}

async function sourcesIn(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder);
  return Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), `${folder}/${file}`]));
}

import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** The tests of each project: `npm test` runs all of them, `npx vitest run --project cli` one. */
const folders = {
  flows: ["test/flows", "test/examples.test.ts"],
  cli: ["test/cli", "test/manual"],
  threads: ["test/threads", "test/workers"],
  crash: ["test/crash"],
  terminal: ["test/terminal"],
};

/** The flows that `npm test` runs a second time, with the conversations in worker threads; `npm run crash` runs all. */
const shardedFlows = ["wire-turn", "wire-tools", "wire-resume", "wire-compaction", "wire-settings", "mcp"];

/** Tests that decide themselves when a conversation sleeps. */
const notWithSleeps = process.env["CODY_TEST_SLEEPS"] === undefined ? [] : ["test/flows/sleeping.test.ts"];

/** No test depends on whether the machine has a sandbox; `test/support/fake-sandbox.ts` has one for tests. */
const pathWithoutSandbox = `${fileURLToPath(new URL("test/support/bwrap/fails", import.meta.url))}:${process.env["PATH"]}`;

/** Projects inherit nothing but the number of workers: what else the root has runs once for all of them. */
function project(
  name: string,
  include: string[],
  { exclude = [], env = {} }: { exclude?: string[]; env?: Record<string, string> } = {},
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include,
      exclude,
      isolate: false,
      // Node 20 reads these certificates at every start, and the tests start hundreds of processes.
      env: { NODE_EXTRA_CA_CERTS: "", TZ: "UTC", PATH: pathWithoutSandbox, ...env },
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  };
}

function filesIn(places: readonly string[]): string[] {
  return places.map((place) => (place.endsWith(".ts") ? place : `${place}/**/*.test.ts`));
}

export default defineConfig({
  test: {
    globalSetup: "test/support/build.ts",
    // Most tests wait for processes, threads and disks rather than compute.
    maxWorkers: 4,
    projects: [
      project("unit", ["test/**/*.test.ts"], {
        exclude: [...Object.values(folders).flatMap(filesIn), "test/system/**"],
      }),
      ...Object.entries(folders).map(([name, places]) => project(name, filesIn(places), { exclude: notWithSleeps })),
      project(
        "shards",
        shardedFlows.map((name) => `test/flows/${name}.test.ts`),
        { env: { CODY_TEST_THREADS: "2" } },
      ),
    ],
  },
});

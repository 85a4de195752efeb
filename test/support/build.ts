import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundle } from "esbuild";
import { build } from "../../scripts/build.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Thread entries and the command line are tested as they are built, so the build comes first. */
export default async function setup(): Promise<void> {
  await Promise.all([build({ declarations: false }), buildTestThreads()]);
}

/** Threads and processes that only tests start; `test/support/test-thread.ts` finds them. */
async function buildTestThreads(): Promise<void> {
  const names = await readdir(join(root, "test/support/threads"));
  await bundle({
    absWorkingDir: root,
    entryPoints: names.map((name) => `test/support/threads/${name}`),
    outdir: "build/test-threads",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: "inline",
    // As in the package's own build: bundled CommonJS packages call require for Node's own modules.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
}

import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundle } from "esbuild";
import { build } from "../../scripts/build.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Thread entries and the command line are tested as they are built, so the build comes first. */
export default async function setup(): Promise<void> {
  await Promise.all([build({ declarations: false }), buildTestThreads(), buildTestChildren()]);
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

/**
 * Processes that only tests start, with the writer's thread beside them as it lies in `dist`; `test/crash/child.ts`
 * finds them.
 */
async function buildTestChildren(): Promise<void> {
  const names = await readdir(join(root, "test/support/children"));
  const children = names.map((name) => `children/${name.replace(/\.ts$/, "")}`);
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: {
      ...Object.fromEntries(children.map((child) => [child, `test/support/${child}.ts`])),
      "workers/entries/rollout-writer": "src/workers/entries/rollout-writer.ts",
    },
    outdir: "build/test-children/dist",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
    write: false,
  });
  await Promise.all(outputFiles.map(({ path, contents }) => replaceFile(path, contents)));
}

/** Whole or not at all: another run of the tests may be starting children from it. */
async function replaceFile(path: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

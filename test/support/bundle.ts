import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A module of `src` as one JavaScript file, for child processes: Node 20 cannot load TypeScript. */
export async function bundleModule(module: string): Promise<{ file: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "cody-bundle-"));
  const file = join(folder, "module.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL(`../../src/${module}`, import.meta.url))],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

// Builds dist: bundles for the library, the command line and every thread entry, and the declarations.
import { execFile } from "node:child_process";
import { chmod, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build as bundle } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** Bundles what runs; the declarations take longer and only a package needs them. */
export async function build({ declarations }) {
  const entries = await readdir(join(root, "src/workers/entries"));
  // Only a package must be free of what older builds left; elsewhere someone may be running from dist.
  if (declarations) await rm(dist, { recursive: true, force: true });
  await bundle({
    absWorkingDir: root,
    entryPoints: ["src/index.ts", "src/cli/main.ts", ...entries.map((name) => `src/workers/entries/${name}`)],
    outbase: "src",
    outdir: dist,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    // Bundled CommonJS packages call require for Node's own modules.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  await chmod(join(dist, "cli/main.js"), 0o755);
  if (declarations) {
    await promisify(execFile)(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"],
      { cwd: root },
    );
  }
}

/** Bundles when a source is newer than what was built from it. */
export async function buildIfNeeded() {
  if (await isStale()) await build({ declarations: false });
}

async function isStale() {
  const built = await stat(join(dist, "cli/main.js")).catch(() => undefined);
  if (built === undefined) return true;
  const sources = await readdir(join(root, "src"), { recursive: true, withFileTypes: true });
  const files = sources.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const times = await Promise.all(
    [...files, join(root, "package.json")].map(async (file) => (await stat(file)).mtimeMs),
  );
  return Math.max(...times) > built.mtimeMs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await (process.argv.includes("--if-needed") ? buildIfNeeded() : build({ declarations: true }));
}

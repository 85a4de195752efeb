// Builds dist: the library, the command line, every thread entry, and the declarations.
import { execFile } from "node:child_process";
import { chmod, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const main = join(dist, "cli/main.cjs");
const pools = new Set(["workers/entries/cpu", "workers/entries/io"]);

/** Bundles what runs; the declarations take longer and only a package needs them. */
export async function build({ declarations }) {
  // Only a package must be free of what older builds left; elsewhere someone may be running from dist.
  if (declarations) await rm(dist, { recursive: true, force: true });
  const files = await readdir(join(root, "src/workers/entries"));
  const entries = files.map((file) => `workers/entries/${file.slice(0, -".ts".length)}`);
  // What several programs share becomes chunks to be loaded, so what short commands never start is bundled apart.
  const rare = entries.filter((name) => pools.has(name));
  const together = await bundle({ format: "cjs", input: { list: "src/cli/quick-list.ts" } });
  const common = ["cli/main", ...entries.filter((name) => !pools.has(name))];
  await Promise.all([
    bundle({ format: "esm", input: { index: "src/index.ts" }, directory: "dist" }),
    bundle({ format: "cjs", input: sourcesOf(common), directory: "dist", together }),
    bundle({ format: "cjs", input: sourcesOf(rare), directory: "dist" }),
  ]);
  await chmod(main, 0o755);
  if (!declarations) return;
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root });
}

function sourcesOf(programs) {
  return Object.fromEntries(programs.map((name) => [name, `src/${name}.ts`]));
}

/** Bundles when a source is newer than what was built from it. */
export async function buildIfNeeded() {
  if (await isStale()) await build({ declarations: false });
}

async function isStale() {
  const built = await stat(main).catch(() => undefined);
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

// Builds dist: the library, the command line, every thread entry, and the declarations.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle, replaceFile } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const main = join(dist, "cli/main.cjs");
const pools = new Set(["workers/entries/cpu", "workers/entries/io"]);
/** The library's entry points, as in the package's `exports`. Built together, so that they share their classes. */
export const library = {
  index: "src/index.ts",
  compaction: "src/public/compaction.ts",
  rollouts: "src/public/rollouts.ts",
  testing: "src/public/testing.ts",
};
const encodings = ["cl100k_base", "o200k_base"];
const outbox = "src/actors/rollout-writer/outbox.ts";

/** Bundles the code; the man page and the type declarations are only needed in a package, and these take longer. */
export async function build({ declarations }) {
  // Delete old files only for a package; otherwise a process may be running from dist.
  if (declarations) await rm(dist, { recursive: true, force: true });
  const files = await readdir(join(root, "src/workers/entries"));
  const entries = files.map((file) => `workers/entries/${file.slice(0, -".ts".length)}`);
  // Shared modules become chunks that every program loads, so the pools, which short commands never start, are bundled apart.
  const rare = entries.filter((name) => pools.has(name));
  // The order matters: neither the writer's thread nor the code that starts it may load the conversation chunk.
  const together = {
    list: await modulesOf("src/cli/conversations/quick-list.ts"),
    writer: await modulesOf("src/workers/entries/rollout-writer.ts"),
    start: await modulesOf("src/cli/run-process.ts"),
    // Includes the file itself, because it is not a program's entry: the conversation imports it too.
    outbox: [join(root, outbox), ...(await modulesOf(outbox))],
    conversation: await modulesOf("src/cli/commands/chat/chat.ts"),
  };
  const buildId = await hashOfSources();
  const common = ["cli/main", ...entries.filter((name) => !pools.has(name))];
  await Promise.all([
    bundle({ format: "esm", input: library, directory: "dist", buildId }),
    bundle({ format: "cjs", input: sourcesOf(common), directory: "dist", together, buildId }),
    bundle({ format: "cjs", input: sourcesOf(rare), directory: "dist", buildId }),
    ...encodings.map(writeVocabulary),
  ]);
  await chmod(main, 0o755);
  if (!declarations) return;
  const { stdout: page } = await promisify(execFile)(process.execPath, [main, "completion", "man"], { cwd: root });
  await writeFile(join(dist, "cody.1"), page);
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root });
}

/** Writes the tokens of an encoding by rank, each as a byte with its length and its bytes, as `BytePairs` reads them. */
async function writeVocabulary(encoding) {
  const source = createRequire(import.meta.url).resolve(`gpt-tokenizer/data/${encoding}.tiktoken`);
  const lines = (await readFile(source, "utf8")).trimEnd().split("\n");
  const tokens = lines.map((line, rank) => {
    const [token, ranked] = line.split(" ");
    if (Number(ranked) !== rank) throw new Error(`${source} has no token of rank ${rank}`);
    return Buffer.from(token, "base64");
  });
  const entries = tokens.flatMap((token) => [Uint8Array.of(token.length), token]);
  await replaceFile(join(dist, `encodings/${encoding}.bin`), Buffer.concat(entries));
}

/** The modules that a file imports statically, without its dynamic imports. */
async function modulesOf(source) {
  const chunks = await bundle({ format: "cjs", input: { entry: source } });
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const loaded = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded) {
    for (const name of imports) if (byName.has(name)) loaded.add(byName.get(name));
  }
  // The entry file itself stays out of the chunk.
  return [...loaded].flatMap(({ moduleIds }) => moduleIds).filter((id) => id !== join(root, source));
}

async function hashOfSources() {
  const hash = createHash("sha256");
  const others = ["package-lock.json", "scripts/build.mjs", "scripts/bundle.mjs"].map((name) => join(root, name));
  for (const file of [...(await sourceFiles()).toSorted(), ...others]) hash.update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

async function sourceFiles() {
  const entries = await readdir(join(root, "src"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function sourcesOf(programs) {
  return Object.fromEntries(programs.map((name) => [name, `src/${name}.ts`]));
}

/** Bundles if a source is newer than the build. */
export async function buildIfNeeded() {
  if (await isStale()) await build({ declarations: false });
}

async function isStale() {
  const built = await stat(main).catch(() => undefined);
  if (built === undefined) return true;
  const files = [...(await sourceFiles()), join(root, "package.json")];
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(...times) > built.mtimeMs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await (process.argv.includes("--if-needed") ? buildIfNeeded() : build({ declarations: true }));
}

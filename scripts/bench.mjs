// Runs all benchmarks in `bench` one after another; `npm run bench -- start-up` runs only that one.
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfNeeded } from "./build.mjs";
import { bundle } from "./bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2);

const names = await benchmarksIn("bench");
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(", ")}; there are ${names.join(", ")}`);
const threads = (await benchmarksIn("bench/threads")).map((name) => `threads/${name}`);
await Promise.all([buildIfNeeded(), bundleAll([...names, ...threads])]);
const failed = names.filter((name) => wanted.length === 0 || wanted.includes(name)).filter((name) => !succeeds(name));
for (const name of failed) console.error(`${name} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function benchmarksIn(folder) {
  const files = await readdir(join(root, folder));
  return files.filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -".ts".length));
}

function bundleAll(entries) {
  const input = Object.fromEntries(entries.map((name) => [name, `bench/${name}.ts`]));
  return bundle({ format: "esm", input, directory: "build/bench" });
}

function succeeds(name) {
  const flags = (process.env.NODE_FLAGS ?? "").split(" ").filter(Boolean);
  const { status } = spawnSync(process.execPath, [...flags, join(root, `build/bench/${name}.js`)], {
    stdio: "inherit",
  });
  return status === 0;
}

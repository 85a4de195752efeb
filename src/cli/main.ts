#!/usr/bin/env node
import * as fs from "node:fs";
import { lstatSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { isAbsolute } from "node:path";

/** Missing in Node 20. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown };

const stdoutDescriptor = 1;

// Everything else is imported only when needed: short commands spend most of their time on loading.
const [first, ...others] = process.argv.slice(2);
if (others.length === 0 && (first === "--version" || first === "-v")) {
  printVersion();
} else {
  cacheCompiledCode(process.env);
  void start();
}

async function start(): Promise<void> {
  const { printQuickList } = first === "list" ? await import("./conversations/quick-list.js") : {};
  if ((await printQuickList?.(others)) === true) return;
  const { runProcess } = await import("./run-process.js");
  await runProcess();
}

/** Reads package.json and writes to the descriptor, because loading our own modules or a stream takes longer. */
function printVersion(): void {
  const { version } = JSON.parse(fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  try {
    fs.writeSync(stdoutDescriptor, `${version}\n`);
  } catch (error) {
    // A reader that has left is not an error.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") process.exitCode = 1;
  }
}

/**
 * Lets Node cache compiled code in a `cody` folder of this user's cache folder, if that exists. Anybody who can write
 * there could make us run any code, so both folders must belong to this user and be writable by nobody else.
 */
function cacheCompiledCode(env: NodeJS.ProcessEnv): void {
  const { XDG_CACHE_HOME, HOME, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = env;
  if (enableCompileCache === undefined || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  const caches = XDG_CACHE_HOME || `${HOME}/.cache`;
  const directory = `${caches}/cody`;
  try {
    if (!isAbsolute(caches) || !isOurs(caches)) return;
    mkdirSync(directory, { mode: 0o700, recursive: true });
    if (isOurs(directory)) enableCompileCache(directory);
  } catch {
    // The cache is optional: everything works without it, only slower.
  }
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

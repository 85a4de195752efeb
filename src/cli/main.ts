#!/usr/bin/env node
import * as fs from "node:fs";
import { lstatSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { isAbsolute } from "node:path";

/** Node 20 has no compile cache. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown };

const stdoutDescriptor = 1;

// Everything else is loaded only when it is needed: most of the time of a short command goes into loading.
const [first, ...others] = process.argv.slice(2);
if (others.length === 0 && (first === "--version" || first === "-v")) {
  printVersion();
} else {
  keepCompiled(process.env);
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
    // A reader that has left does not mind.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") process.exitCode = 1;
  }
}

/**
 * Lets Node keep what it has compiled of cody in `cody` of the folder where this user's programs keep such things, if
 * there is one. Whoever can write there can have us run anything: it must be ours, and nobody else's to change.
 */
function keepCompiled(env: NodeJS.ProcessEnv): void {
  const { XDG_CACHE_HOME, HOME, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = env;
  if (enableCompileCache === undefined || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  const caches = XDG_CACHE_HOME || `${HOME}/.cache`;
  const directory = `${caches}/cody`;
  try {
    if (!isAbsolute(caches) || !isOurs(caches)) return;
    mkdirSync(directory, { mode: 0o700, recursive: true });
    if (isOurs(directory)) enableCompileCache(directory);
  } catch {
    // Without it everything works as well, only slower.
  }
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}

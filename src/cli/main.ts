#!/usr/bin/env node
import * as fs from "node:fs";
import { join } from "node:path";
import { cacheCompiledCode } from "./compile-cache.js";

const stdoutDescriptor = 1;
const stderrDescriptor = 2;

// Everything else is imported only when needed: short commands spend most of their time on loading.
const [first, ...others] = process.argv.slice(2);
if (others.length === 0 && (first === "--version" || first === "-v")) {
  printVersion();
} else if (process.platform === "win32") {
  // Locks, sandbox and the processes of tools need a POSIX system.
  process.exitCode = 1;
  fs.writeSync(
    stderrDescriptor,
    "cody does not run on native Windows: install it inside WSL (https://aka.ms/wsl) and start it there.\n",
  );
} else {
  cacheCompiledCode(process.env, join(import.meta.dirname, "../chunks"));
  void start();
}

async function start(): Promise<void> {
  if (await isPrintedQuickly()) return;
  const { runProcess } = await import("./run-process.js");
  await runProcess();
}

/** True if the output came from the cache of the last list. */
async function isPrintedQuickly(): Promise<boolean> {
  const isCompletion = first === "completion" && others.length === 1 && others[0] === "--conversations";
  if (first !== "list" && !isCompletion) return false;
  const { printQuickList, printQuickWords } = await import("./conversations/quick-list.js");
  return isCompletion ? await printQuickWords() : await printQuickList(others);
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

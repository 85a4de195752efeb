#!/usr/bin/env node
import * as fs from "node:fs";
import { keepCompiled } from "./compile-cache.js";

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

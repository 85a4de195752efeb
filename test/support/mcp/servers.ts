import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { McpCommandEntry } from "../../../src/messages/settings/mcp-config.js";
import { type Mark, marked } from "../processes.js";

const script = fileURLToPath(new URL("./server.mjs", import.meta.url));

/** The configuration of a server with these traits. */
export function serverEntry(traits: readonly string[] = [], more: Partial<McpCommandEntry> = {}): McpCommandEntry {
  return { command: process.execPath, args: [script, ...traits], ...more };
}

/** The same as `serverEntry`, with its processes marked. */
export function markedEntry(
  traits: readonly string[] = [],
  more: Partial<McpCommandEntry> = {},
): { entry: McpCommandEntry; mark: Mark } {
  const mark = marked("mcp");
  return { entry: serverEntry(traits, { ...more, env: { ...more.env, ...mark.env } }), mark };
}

/** An HTTP server on loopback that stops when the test ends. */
export async function openHttpServer(
  traits: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [script, "--http", ...traits], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return { url: `http://127.0.0.1:${port.toString().trim()}/mcp`, child };
}

/** The messages that a server has recorded in its file. */
export async function receivedMessages(file: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

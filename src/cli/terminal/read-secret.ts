import { once } from "node:events";
import { Writable } from "node:stream";
import type { CommandContext } from "../context.js";
import type { Interruption } from "./interruption.js";
import { readLines } from "./read-input.js";

/** Reads the first line of stdin, without echo on a terminal. Empty if there is none or the run was interrupted. */
export async function readSecret(context: CommandContext, what: string, interruption: Interruption): Promise<string> {
  const { stdin } = context.terminal;
  if (stdin.isTTY === true) return await typed(context, what, interruption);
  for await (const line of readLines(stdin, interruption.signal)) return line.trim();
  return "";
}

async function typed({ terminal }: CommandContext, what: string, interruption: Interruption): Promise<string> {
  const { createInterface } = await import("node:readline");
  // Discards readline's output, which would echo the secret.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const readline = createInterface({ input: terminal.stdin, output, terminal: true, historySize: 0 });
  readline.once("SIGINT", () => interruption.interrupt());
  const over = new AbortController();
  readline.once("close", () => over.abort());
  try {
    await terminal.stderr.write(`${what} (input is hidden): `);
    const signal = AbortSignal.any([interruption.signal, over.signal]);
    const [line] = (await once(readline, "line", { signal })) as [string];
    return line.trim();
  } catch (error) {
    if (interruption.signal.aborted || over.signal.aborted) return "";
    throw error;
  } finally {
    readline.close();
    await terminal.stderr.write("\n");
  }
}

import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { expect } from "vitest";
import { Watch } from "../support/watch.js";

/** Waits until none of the processes runs; a zombie does not count as running. */
export async function expectGone(...pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(isRunning), { timeout: 20_000, interval: 5 }).toEqual([]);
}

export function isRunning(pid: number): boolean {
  return !["Z", "X", undefined].includes(stateOf(pid));
}

export function isStopped(pid: number): boolean {
  return stateOf(pid) === "T";
}

/** The state letter of a process in /proc, or undefined if there is no such process. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.at(stat.lastIndexOf(")") + 2);
  } catch {
    return undefined;
  }
}

/** The numbers in a text, such as the process ids a command has printed. */
export function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/\d+/g), ([digits]) => Number(digits));
}

/** Watches a stream: each value is the whole text received so far. */
export function textOf(stream: Readable | null): Watch<string> {
  const texts = new Watch<string>();
  let text = "";
  stream?.on("data", (bytes: Buffer) => texts.push((text += bytes.toString())));
  return texts;
}

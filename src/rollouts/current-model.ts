import { isRecord } from "../base/is-record.js";
import type { Head } from "./list/head.js";
import { readLineBytes } from "./file/line-object.js";

/** Bytes of the file's end that are read first; most turns are shorter. */
const firstTailBytes = 16 * 1024;
const tailGrowth = 8;
/** Upper limit of the search. If the last turn is longer, a list shows the model named at the start of the file. */
const maxTailBytes = 8 * 1024 * 1024;
const tailNewline = 0x0a;
const tailTurnContext = Buffer.from('"turn_context"');

export type CurrentModel = Pick<Head, "provider" | "model">;

/** Returns how many bytes of the end to read next, after `looked` bytes had no model; undefined when to stop. */
export function nextTailBytes(size: number, looked = 0): number | undefined {
  if (looked >= Math.min(size, maxTailBytes)) return undefined;
  return Math.min(size, maxTailBytes, looked === 0 ? firstTailBytes : looked * tailGrowth);
}

/** Reads the last turn context from the end of a rollout; undefined when it contains no complete one. */
export function currentModelIn(tail: Buffer): CurrentModel | undefined {
  let end = tail.length;
  for (;;) {
    const at = end <= 0 ? -1 : tail.lastIndexOf(tailTurnContext, end - 1);
    if (at === -1) return undefined;
    const start = tail.lastIndexOf(tailNewline, at) + 1;
    const stop = tail.indexOf(tailNewline, at);
    // A line without a newline is still being written; a line without its start does not parse.
    const read = stop === -1 ? undefined : readLineBytes(tail.subarray(start, stop));
    if (read?.status === "object" && read.value.type === "turn_context" && isRecord(read.value["payload"])) {
      const { provider, model } = read.value["payload"];
      if (typeof model === "string") return { ...(typeof provider === "string" ? { provider } : {}), model };
    }
    end = start;
  }
}

import { isRecord } from "../base/is-record.js";
import type { Head } from "./list/head.js";
import { readLineBytes } from "./file/line-object.js";

/** How much of the end of a file is read first; most turns are shorter. */
const firstTailBytes = 16 * 1024;
const growth = 8;
/** A last turn may be longer than this; then a list shows the model its start names. */
const maxTailBytes = 8 * 1024 * 1024;
const newline = 0x0a;
const turnContext = Buffer.from('"turn_context"');

/** The provider and model of the last turn. */
export type CurrentModel = Pick<Head, "provider" | "model">;

/** How many bytes of the end to look at next, after so many of them did not say it; undefined when it is time to stop. */
export function nextTailBytes(size: number, looked = 0): number | undefined {
  if (looked >= Math.min(size, maxTailBytes)) return undefined;
  return Math.min(size, maxTailBytes, looked === 0 ? firstTailBytes : looked * growth);
}

/** What the last turn context in these bytes, the end of a rollout, says; undefined when there is no whole one. */
export function currentModelIn(tail: Buffer): CurrentModel | undefined {
  let end = tail.length;
  for (;;) {
    const at = end <= 0 ? -1 : tail.lastIndexOf(turnContext, end - 1);
    if (at === -1) return undefined;
    const start = tail.lastIndexOf(newline, at) + 1;
    const stop = tail.indexOf(newline, at);
    // A line without its end is still being written; one without its start does not parse.
    const read = stop === -1 ? undefined : readLineBytes(tail.subarray(start, stop));
    if (read?.status === "object" && read.value.type === "turn_context" && isRecord(read.value["payload"])) {
      const { provider, model } = read.value["payload"];
      if (typeof model === "string") return { ...(typeof provider === "string" ? { provider } : {}), model };
    }
    end = start;
  }
}

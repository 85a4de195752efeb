import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Plan } from "./plan.js";

export interface Pace {
  /** The time between two writes; 0: at once. */
  readonly delayMs: number;
  /** How many pieces go out together. */
  readonly perWrite: number;
}

/** Writes a plan as fast as its pace and its reader allow. Ends early when the reader has left. */
export async function sendPlan(response: ServerResponse, plan: Plan, pace: Pace): Promise<void> {
  const left = leaving(response);
  if (pace.delayMs > 0) await writePaced(response, plan.pieces, pace, left);
  else await writeAtOnce(response, plan.pieces, pace, left);
  if (!left.aborted) await end(response, plan.ending, left);
}

function leaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  return controller.signal;
}

async function writeAtOnce(
  response: ServerResponse,
  pieces: Plan["pieces"],
  { perWrite }: Pace,
  left: AbortSignal,
): Promise<void> {
  for (let index = 0; index < pieces.length && !left.aborted; index += perWrite) {
    const isFull = !response.write(joined(pieces.slice(index, index + perWrite)));
    if (isFull) await drained(response, left);
  }
}

/** Piece n is due n delays after the start: a late timer is made up for, so a stream as a whole is never late. */
async function writePaced(
  response: ServerResponse,
  pieces: Plan["pieces"],
  { delayMs, perWrite }: Pace,
  left: AbortSignal,
): Promise<void> {
  const started = performance.now();
  let index = 0;
  let writes = 0;
  while (index < pieces.length && !left.aborted) {
    const due = 1 + Math.floor((performance.now() - started) / delayMs);
    if (due > writes) {
      const upTo = index + (due - writes) * perWrite;
      const isFull = !response.write(joined(pieces.slice(index, upTo)));
      [index, writes] = [upTo, due];
      if (isFull) await drained(response, left);
    }
    if (index < pieces.length) await pause(started + writes * delayMs - performance.now(), left);
  }
}

function joined(pieces: Plan["pieces"]): string | Buffer {
  if (pieces.every((piece) => typeof piece === "string")) return pieces.join("");
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

async function drained(response: ServerResponse, left: AbortSignal): Promise<void> {
  await once(response, "drain", { signal: left }).catch(() => undefined);
}

function pause(ms: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      left.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    left.addEventListener("abort", stop);
  });
}

async function end(response: ServerResponse, ending: Plan["ending"], left: AbortSignal): Promise<void> {
  if (ending === "end") {
    response.end();
    return;
  }
  if (ending === "stall") return;
  if (ending === "close" || ending === "reset") {
    // What was written must have left before the connection goes.
    await new Promise<void>((resolve) => void response.write("", () => resolve()));
    if (ending === "close") response.socket?.destroy();
    else response.socket?.resetAndDestroy();
    return;
  }
  while (!left.aborted) {
    await pause(ending.everyMs, left);
    if (!left.aborted && !response.write(ending.ping)) await drained(response, left);
  }
}

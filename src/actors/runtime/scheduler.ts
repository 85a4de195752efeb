import { setImmediate } from "node:timers";
import { LinkedList, type Linked } from "./linked-list.js";

/** Something with messages to handle; `ready` is true while it stands in line. */
export interface Runnable extends Linked<Runnable> {
  ready: boolean;
  /** Handles up to `limit` messages and says how many it has handled. */
  take(limit: number): number;
  readonly hasWork: boolean;
}

// A loop of ready promises never lets sockets and timers run, and all actors of a thread are one such loop.
const messagesPerTurn = 64;
/** Where the rest of the event loop takes long, actors may take half of that: an interrupt must not wait for many rounds. */
const share = 0.5;
const longestTurnMs = 50;

const line = new LinkedList<Runnable>();
let left = messagesPerTurn;
let armed = false;
let waitsSince = 0;
let deadline = 0;

/** Lets an actor handle its messages soon: from a microtask, or once the event loop has had its turn. */
export function schedule(runnable: Runnable): void {
  if (runnable.ready) return;
  runnable.ready = true;
  line.push(runnable);
  if (!armed) arm();
}

function arm(): void {
  armed = true;
  if (left > 0) {
    queueMicrotask(work);
  } else {
    waitsSince = performance.now();
    setImmediate(nextTurn);
  }
}

function nextTurn(): void {
  const now = performance.now();
  left = messagesPerTurn;
  deadline = now + Math.min((now - waitsSince) * share, longestTurnMs);
  work();
}

function work(): void {
  while (left > 0 || goesOn()) {
    const runnable = line.shift();
    if (runnable === undefined) break;
    left -= runnable.take(left);
    // Back to the end of the line, so that a busy actor does not keep the others waiting.
    if (runnable.hasWork) line.push(runnable);
    else runnable.ready = false;
  }
  armed = false;
  if (!line.isEmpty) arm();
}

function goesOn(): boolean {
  if (performance.now() >= deadline) return false;
  left = messagesPerTurn;
  return true;
}

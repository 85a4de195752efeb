import { setImmediate } from "node:timers";
import { LinkedList, type Linked } from "./linked-list.js";

/** Something with messages to handle; `ready` is true while it is queued. */
export interface Runnable extends Linked<Runnable> {
  ready: boolean;
  /** Handles up to `limit` messages and returns how many it has handled. */
  take(limit: number): number;
  readonly hasWork: boolean;
}

// Chained microtasks starve sockets and timers, and all actors of a thread share one such chain.
const messagesPerTurn = 64;
/**
 * When the rest of the event loop takes long, actors may take half that time, so that an interrupt does not wait for
 * many rounds.
 */
const share = 0.5;
const longestTurnMs = 50;

const line = new LinkedList<Runnable>();
let left = messagesPerTurn;
let armed = false;
let waitsSince = 0;
let deadline = 0;

/** Schedules an actor to handle its messages: in a microtask, or after the event loop has had its turn. */
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
    // Re-queued at the end, so that a busy actor does not delay the others.
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

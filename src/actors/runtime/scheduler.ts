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
const actorShare = 0.5;
const longestTurnMs = 50;

const runQueue = new LinkedList<Runnable>();
let messagesLeft = messagesPerTurn;
let isArmed = false;
let waitingSince = 0;
let turnDeadline = 0;

/** Schedules an actor to handle its messages: in a microtask, or after the event loop has had its turn. */
export function schedule(runnable: Runnable): void {
  if (runnable.ready) return;
  runnable.ready = true;
  runQueue.push(runnable);
  if (!isArmed) arm();
}

function arm(): void {
  isArmed = true;
  if (messagesLeft > 0) {
    queueMicrotask(runActors);
  } else {
    waitingSince = performance.now();
    setImmediate(nextTurn);
  }
}

function nextTurn(): void {
  const now = performance.now();
  messagesLeft = messagesPerTurn;
  turnDeadline = now + Math.min((now - waitingSince) * actorShare, longestTurnMs);
  runActors();
}

function runActors(): void {
  while (messagesLeft > 0 || hasTimeLeft()) {
    const runnable = runQueue.shift();
    if (runnable === undefined) break;
    messagesLeft -= runnable.take(messagesLeft);
    // Re-queued at the end, so that a busy actor does not delay the others.
    if (runnable.hasWork) runQueue.push(runnable);
    else runnable.ready = false;
  }
  isArmed = false;
  if (!runQueue.isEmpty) arm();
}

function hasTimeLeft(): boolean {
  if (performance.now() >= turnDeadline) return false;
  messagesLeft = messagesPerTurn;
  return true;
}

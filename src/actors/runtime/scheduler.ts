import { setImmediate } from "node:timers";
import { LinkedList, type Linked } from "./mailbox.js";

/** After this time the event loop gets a turn, so that sockets, timers and interrupts are served. */
const maxSliceMs = 10;

/** When the rest of the event loop takes longer, this queue may too; otherwise a busy loop would starve it. */
const queueShare = 0.25;

const maxSharedSliceMs = 40;

/**
 * Ending work frees resources, so it runs first. Work that has begun continues before other work begins, so that the
 * first of a thousand turns does not wait for the last one to begin.
 */
const callerQueues = {
  end: new LinkedList<QueuedCaller>(),
  continue: new LinkedList<QueuedCaller>(),
  begin: new LinkedList<QueuedCaller>(),
};

let isServing = false;

/** Something with messages to handle; `ready` is true while it is queued. */
export interface Runnable extends Linked<Runnable> {
  isQueued: boolean;
  /** Handles up to `limit` messages and returns how many it has handled. */
  handleMessages(limit: number): number;
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
  if (runnable.isQueued) return;
  runnable.isQueued = true;
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
    messagesLeft -= runnable.handleMessages(messagesLeft);
    // Re-queued at the end, so that a busy actor does not delay the others.
    if (runnable.hasWork) runQueue.push(runnable);
    else runnable.isQueued = false;
  }
  isArmed = false;
  if (!runQueue.isEmpty) arm();
}

function hasTimeLeft(): boolean {
  if (performance.now() >= turnDeadline) return false;
  messagesLeft = messagesPerTurn;
  return true;
}

interface QueuedCaller extends Linked<QueuedCaller> {
  resume(): void;
}

/**
 * Resolves when all earlier callers have continued as far as they could without waiting for I/O. Otherwise a thousand
 * pieces of work that become ready together would block the event loop as one.
 */
export function yieldFairly(kind: keyof typeof callerQueues): Promise<void> {
  return new Promise((resolve) => {
    callerQueues[kind].push({ previous: undefined, next: undefined, resume: resolve });
    if (isServing) return;
    isServing = true;
    queueMicrotask(() => void serveCallers());
  });
}

/**
 * Like `yieldFairly`, but after a turn of the event loop: for a caller whose work takes milliseconds before and after,
 * which would otherwise block the loop as one.
 */
export async function yieldToLoop(kind: keyof typeof callerQueues): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await yieldFairly(kind);
}

async function serveCallers(): Promise<void> {
  let deadline = performance.now() + maxSliceMs;
  for (let next = nextCaller(); next !== undefined; next = nextCaller()) {
    next.resume();
    // Runs when the microtask queue is empty, so the released work has continued as far as it can.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const now = performance.now();
    if (now < deadline) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const back = performance.now();
    deadline = back + Math.max(maxSliceMs, Math.min((back - now) * queueShare, maxSharedSliceMs));
  }
  isServing = false;
}

function nextCaller(): QueuedCaller | undefined {
  return callerQueues.end.shift() ?? callerQueues.continue.shift() ?? callerQueues.begin.shift();
}

import { LinkedList, type Linked } from "./linked-list.js";

interface QueuedCaller extends Linked<QueuedCaller> {
  goOn(): void;
}

/** After this time the event loop gets a turn, so that sockets, timers and interrupts are served. */
const maxSliceMs = 10;
/** When the rest of the event loop takes longer, this queue may too; otherwise a busy loop would starve it. */
const queueShare = 0.25;
const maxSharedSliceMs = 40;

/** Ending work frees resources, so it runs before work that begins. */
const callerQueues = { end: new LinkedList<QueuedCaller>(), begin: new LinkedList<QueuedCaller>() };
let isServing = false;

/**
 * Resolves when all earlier callers have continued as far as they could without waiting for I/O. Otherwise a thousand
 * pieces of work that become ready together would block the event loop as one.
 */
export function yieldFairly(kind: keyof typeof callerQueues): Promise<void> {
  return new Promise((resolve) => {
    callerQueues[kind].push({ previous: undefined, next: undefined, goOn: resolve });
    if (isServing) return;
    isServing = true;
    queueMicrotask(() => void serveCallers());
  });
}

async function serveCallers(): Promise<void> {
  let deadline = performance.now() + maxSliceMs;
  for (let next = nextCaller(); next !== undefined; next = nextCaller()) {
    next.goOn();
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
  return callerQueues.end.shift() ?? callerQueues.begin.shift();
}

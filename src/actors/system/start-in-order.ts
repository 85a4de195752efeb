import { LinkedList, type Linked } from "./linked-list.js";

interface Waiting extends Linked<Waiting> {
  start(): void;
}

/** Sockets, timers and interrupts have their turn after so long. */
const longestMs = 10;
/** Where the rest of the event loop takes longer, so may the starts: else a busy loop would hardly start anything. */
const share = 0.25;
const longestShareMs = 40;

const line = new LinkedList<Waiting>();
let isStarting = false;

/**
 * Resolves when everybody who asked before has begun, as far as it can without waiting for the world. A thousand
 * pieces of work that become ready together would otherwise be one piece that holds up the event loop.
 */
export function startInOrder(): Promise<void> {
  return new Promise((resolve) => {
    line.push({ previous: undefined, next: undefined, start: resolve });
    if (isStarting) return;
    isStarting = true;
    queueMicrotask(() => void startAll());
  });
}

async function startAll(): Promise<void> {
  let deadline = performance.now() + longestMs;
  for (let next = line.shift(); next !== undefined; next = line.shift()) {
    next.start();
    // Runs when nothing is left that is ready: what was started has gone as far as it can.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const now = performance.now();
    if (now < deadline) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const back = performance.now();
    deadline = back + Math.max(longestMs, Math.min((back - now) * share, longestShareMs));
  }
  isStarting = false;
}

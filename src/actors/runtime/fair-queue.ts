import { LinkedList, type Linked } from "./linked-list.js";

interface Waiting extends Linked<Waiting> {
  goOn(): void;
}

/** After this time the event loop gets a turn, so that sockets, timers and interrupts are served. */
const longestMs = 10;
/** When the rest of the event loop takes longer, this queue may too; otherwise a busy loop would starve it. */
const share = 0.25;
const longestShareMs = 40;

/** Ending work frees resources, so it runs before work that begins. */
const lines = { end: new LinkedList<Waiting>(), begin: new LinkedList<Waiting>() };
let isServing = false;

/**
 * Resolves when all earlier callers have continued as far as they could without waiting for I/O. Otherwise a thousand
 * pieces of work that become ready together would block the event loop as one.
 */
export function takeTurn(kind: keyof typeof lines): Promise<void> {
  return new Promise((resolve) => {
    lines[kind].push({ previous: undefined, next: undefined, goOn: resolve });
    if (isServing) return;
    isServing = true;
    queueMicrotask(() => void serve());
  });
}

async function serve(): Promise<void> {
  let deadline = performance.now() + longestMs;
  for (let next = shift(); next !== undefined; next = shift()) {
    next.goOn();
    // Runs when the microtask queue is empty, so the released work has continued as far as it can.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const now = performance.now();
    if (now < deadline) continue;
    await new Promise((resolve) => setImmediate(resolve));
    const back = performance.now();
    deadline = back + Math.max(longestMs, Math.min((back - now) * share, longestShareMs));
  }
  isServing = false;
}

function shift(): Waiting | undefined {
  return lines.end.shift() ?? lines.begin.shift();
}

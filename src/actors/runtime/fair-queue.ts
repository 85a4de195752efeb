import { LinkedList, type Linked } from "./linked-list.js";

interface Waiting extends Linked<Waiting> {
  goOn(): void;
}

/** Sockets, timers and interrupts have their turn after so long. */
const longestMs = 10;
/** Where the rest of the event loop takes longer, so may this: else a busy loop would hardly get on. */
const share = 0.25;
const longestShareMs = 40;

/** What ends makes room, so it goes before what begins. */
const lines = { end: new LinkedList<Waiting>(), begin: new LinkedList<Waiting>() };
let isServing = false;

/**
 * Resolves when everybody who asked before has gone on, as far as it could without waiting for the world. A thousand
 * pieces of work that become ready together would otherwise be one piece that holds up the event loop.
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
    // Runs when nothing is left that is ready: whoever went on has gone as far as it can.
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

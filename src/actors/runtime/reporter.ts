import type { MessagePort } from "node:worker_threads";
import { failed, messageOf } from "./failures.js";
import type { Report } from "./thread-protocol.js";

const reportsPerBatch = 256;

// A thread's stack is larger than the main thread's, which can read back about 2,000 levels.
const maxDepth = 1_000;

/** Sends reports in batches: one message to the port for what one turn of the thread had to say. */
export class Reporter {
  readonly #port: MessagePort;
  readonly #name: string;
  #batch: Report[] = [];

  constructor(port: MessagePort, name: string) {
    this.#port = port;
    this.#name = name;
  }

  report(report: Report): void {
    this.#batch.push(report);
    if (this.#batch.length === 1) queueMicrotask(() => this.#flush());
    if (this.#batch.length >= reportsPerBatch) this.#flush();
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    try {
      assertShallow(batch);
      this.#port.postMessage(batch, []);
    } catch {
      for (const report of batch) this.#post(report);
    }
  }

  /** A report that cannot cross must not take the others with it. */
  #post(report: Report): void {
    try {
      assertShallow(report);
      this.#port.postMessage([report], []);
    } catch (error) {
      const message = `${this.#name}: cannot cross to the main thread: ${messageOf(error)}`;
      if (report.type === "answered") {
        const failure = failed("bad_message", message);
        this.#port.postMessage([{ type: "refused", number: report.number, failure } satisfies Report], []);
      } else {
        process.emitWarning(message);
      }
    }
  }
}

/** Walks as structured cloning does: what was seen before is not entered again. */
function assertShallow(value: unknown, seen = new Set<object>(), depth = 0): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
  if (depth > maxDepth) throw new RangeError(`more than ${maxDepth} levels deep`);
  seen.add(value);
  for (const member of Object.values(value)) assertShallow(member, seen, depth + 1);
}

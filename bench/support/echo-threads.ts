import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import * as Comlink from "comlink";
import type { Ref } from "../../src/actors/runtime/actor.js";
import { comlinkEndpoint } from "../../src/actors/runtime/thread.js";
import { spawnThread } from "../../src/actors/runtime/spawn-thread.js";
import type { EchoAnswers, EchoOp } from "./echo.js";
import { inLanes, perSecond } from "./measure.js";

/** The same echo in three threads: with a raw port, with Comlink, and as an actor. */
export interface Threads {
  rawAsks(lanes: number, count: number): Promise<number>;
  comlinkAsks(lanes: number, count: number): Promise<number>;
  asks(lanes: number, count: number): Promise<number>;
  rawTells(count: number): Promise<number>;
  tells(count: number): Promise<number>;
  close(): Promise<void>;
}

type EchoQuestion = Extract<EchoOp, { type: "echo" }>;

interface Echo {
  echo(op: EchoOp): number;
}

export function openThreads(): Threads {
  const raw = new RawEcho();
  const comlinkThread = openThread("comlink-echo");
  const comlink = Comlink.wrap<Echo>(comlinkEndpoint(comlinkThread.port));
  const ref: Ref<EchoOp, EchoAnswers> = spawnThread<EchoOp, EchoAnswers, null>(entry("actor-echo"), null);
  return {
    rawAsks: (lanes, count) => askRate(lanes, count, (op) => raw.ask(op)),
    comlinkAsks: (lanes, count) => askRate(lanes, count, (op) => comlink.echo(op)),
    asks: (lanes, count) => askRate(lanes, count, (op) => ref.ask(op)),
    rawTells: (count) =>
      perSecond(count, async () => {
        for (let value = 1; value < count; value += 1) raw.tell({ type: "note", value });
        await raw.ask({ type: "echo", value: 0 });
      }),
    tells: (count) =>
      perSecond(count, async () => {
        for (let value = 1; value < count; value += 1) void ref.tell({ type: "note", value });
        await ref.ask({ type: "echo", value: 0 });
      }),
    close: async () => {
      await Promise.all([raw.close(), comlinkThread.close(), ref.stop()]);
    },
  };
}

async function askRate(lanes: number, count: number, ask: (op: EchoQuestion) => Promise<unknown>): Promise<number> {
  return await perSecond(count, () => inLanes(lanes, count, (value) => ask({ type: "echo", value })));
}

/** Answers arrive in the order of the requests, so a queue of resolvers is enough. */
class RawEcho {
  readonly #thread = openThread("raw-echo");
  readonly #waiting: ((value: unknown) => void)[] = [];
  #answered = 0;

  constructor() {
    this.#thread.port.on("message", (op: EchoOp) => {
      this.#waiting[this.#answered]?.(op.value);
      this.#answered += 1;
      if (this.#answered === this.#waiting.length) this.#answered = this.#waiting.length = 0;
    });
  }

  ask(op: EchoOp): Promise<unknown> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.tell(op);
    });
  }

  tell(op: EchoOp): void {
    this.#thread.port.postMessage(op, []);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

interface OpenThread {
  readonly port: MessagePort;
  close(): Promise<void>;
}

function openThread(name: string): OpenThread {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(entry(name), { workerData: { port: port2 }, transferList: [port2] });
  return {
    port: port1,
    close: async () => {
      const exit = once(worker, "exit");
      port1.close();
      await worker.terminate();
      await exit;
    },
  };
}

/** The thread entry built next to the benchmark. */
function entry(name: string): URL {
  return new URL(`./threads/${name}.js`, import.meta.url);
}

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, type ResourceLimits, Worker } from "node:worker_threads";
import * as Comlink from "comlink";
import { Deferred, startDeadline, within } from "../../base/time/waiting.js";
import { threadArguments, threadDeath } from "../../workers/same-build.js";
import type { RestartBudget } from "../runtime/actor.js";
import { comlinkEndpoint } from "../runtime/comlink-endpoint.js";
import { RestartWindow } from "../runtime/spawn.js";
import type { WriterControl } from "./serve-writer.js";

/** The writer's data is short-lived; with the default size its garbage alone would take a third of our memory. */
const maxYoungGenerationSizeMb = 4;

const pingEveryMs = 5_000;

/** A thread that does not answer a ping within this time is considered dead, because its event loop hangs. */
const pingDeadlineMs = 30_000;

const stopBoundMs = 10_000;

/** Receives a client's ports to the writer. */
export interface WriterListener {
  /** Called with a port to each new writer thread. The threads before it have ended. */
  readonly onPort: (port: MessagePort) => void;
  /** Called when there will be no writer any more. */
  readonly onFailed: (reason: string) => void;
}

/** Where a client gets its ports from: the writer's thread, or in a shard the messages of the main thread. */
export interface WriterSource {
  /** Returns a function that ends the calls to the listener. */
  connect(listener: WriterListener): () => void;
  /** Ends the writer; only its owner can. */
  stop?(): Promise<void>;
}

export interface WriterThreadOptions {
  readonly budget?: RestartBudget;
  readonly resourceLimits?: ResourceLimits;
}

/** Owns the writer's thread, which starts with the first client, and replaces it when it dies or hangs. */
export class WriterThread implements WriterSource {
  readonly #entry: () => URL;
  readonly #resourceLimits: ResourceLimits;
  readonly #restarts: RestartWindow;
  readonly #listeners = new Set<WriterListener>();
  #life: ThreadLife | undefined;
  #failure: string | undefined;

  /** `entry` is called when a thread starts. */
  constructor(entry: () => URL, { budget, resourceLimits }: WriterThreadOptions = {}) {
    this.#entry = entry;
    this.#resourceLimits = { maxYoungGenerationSizeMb, ...resourceLimits };
    this.#restarts = new RestartWindow(budget);
  }

  connect(listener: WriterListener): () => void {
    if (this.#failure !== undefined) {
      listener.onFailed(this.#failure);
      return () => undefined;
    }
    this.#listeners.add(listener);
    this.#life ??= this.#start();
    listener.onPort(this.#life.connect());
    return () => void this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#fail("the writer was stopped");
    await this.#life?.stop();
  }

  #start(): ThreadLife {
    return new ThreadLife(this.#entry(), this.#resourceLimits, (reason) => this.#onExit(reason));
  }

  #onExit(reason: string): void {
    if (this.#failure !== undefined) return;
    if (!this.#restarts.spend()) {
      const { restarts, windowMs } = this.#restarts.budget;
      return this.#fail(`${reason} (failed for good: ${restarts} restarts within ${windowMs} ms)`);
    }
    const life = this.#start();
    this.#life = life;
    for (const listener of this.#listeners) listener.onPort(life.connect());
  }

  #fail(reason: string): void {
    this.#failure = reason;
    for (const listener of this.#listeners) listener.onFailed(reason);
    this.#listeners.clear();
  }
}

/** One life of the thread. */
class ThreadLife {
  readonly #worker: Worker;
  readonly #control: Comlink.Remote<WriterControl>;
  readonly #pings: NodeJS.Timeout;
  readonly #exited = new Deferred<void>();
  #isPinging = false;
  #reason: string | undefined;

  /** `onExit` is called when the thread has exited, so that a new one can take over its files. */
  constructor(entry: URL, resourceLimits: ResourceLimits, onExit: (reason: string) => void) {
    const name = basename(fileURLToPath(entry)).replace(/\.\w+$/, "");
    // Threads do not inherit the flags of the process: with `--input-type` none would start.
    this.#worker = new Worker(entry, { name, argv: [...threadArguments], execArgv: [], resourceLimits });
    this.#worker.on("error", (error) => (this.#reason = threadDeath(error)));
    this.#worker.on("exit", (code) => {
      clearInterval(this.#pings);
      this.#exited.resolve();
      onExit(`${name}: ${this.#reason ?? `the thread exited with code ${code}`}`);
    });
    this.#control = Comlink.wrap<WriterControl>(comlinkEndpoint(this.#worker));
    this.#pings = setInterval(() => void this.#ping(), pingEveryMs);
    // An idle thread must not keep the process alive; the port of a client that waits for something does.
    this.#pings.unref();
    this.#worker.unref();
  }

  /** Returns a new client's end of a channel to the thread. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    void this.#control.connect(Comlink.transfer(port2, [port2]));
    return port1;
  }

  async stop(): Promise<void> {
    await within(Promise.race([this.#control.stop(), this.#exited.promise]), stopBoundMs);
    await this.#worker.terminate();
  }

  /** Comlink never settles a call to a thread that hangs. */
  async #ping(): Promise<void> {
    if (this.#isPinging) return;
    this.#isPinging = true;
    const forget = startDeadline(
      pingDeadlineMs,
      () => {
        this.#reason = `no answer within ${pingDeadlineMs / 1000} s`;
        void this.#worker.terminate();
      },
      { unref: true },
    );
    await this.#control.ping();
    forget();
    this.#isPinging = false;
  }
}

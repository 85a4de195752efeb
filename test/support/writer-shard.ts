import { type MessagePort, Worker } from "node:worker_threads";
import type { RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import type { LockOwner, OpenOutcome, SaveOutcome } from "../../src/messages/actors/rollout-writer.js";
import { testThread } from "./test-thread.js";

export type ShardCall =
  | {
      readonly type: "open";
      readonly conversationId: string;
      readonly path: string;
      readonly mode: "create" | "append";
    }
  | { readonly type: "append"; readonly conversationId: string; readonly texts: readonly string[] }
  | { readonly type: "flush" | "close" | "stop"; readonly conversationId: string };

export type ShardMessage =
  | { readonly type: "owner"; readonly owner: LockOwner }
  | { readonly type: "port"; readonly port: MessagePort }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "call"; readonly id: number; readonly call: ShardCall };

/** The main thread's side of a thread with its own client of the writer. */
export class WriterShard {
  readonly #worker = new Worker(testThread("writer-shard"));
  readonly #disconnect: () => void;
  readonly #waiting = new Map<number, (outcome: unknown) => void>();
  #calls = 0;

  constructor(outbox: RolloutOutbox, owner: LockOwner) {
    this.#worker.on("message", ({ id, outcome }: { id: number; outcome: unknown }) => this.#waiting.get(id)?.(outcome));
    this.#post({ type: "owner", owner });
    this.#disconnect = outbox.connect({
      onPort: (port) => this.#post({ type: "port", port }, [port]),
      onFailed: (reason) => this.#post({ type: "failed", reason }),
    });
  }

  open(conversationId: string, path: string, mode: "create" | "append"): Promise<OpenOutcome> {
    return this.#call<OpenOutcome>({ type: "open", conversationId, path, mode });
  }

  append(conversationId: string, ...texts: string[]): Promise<void> {
    return this.#call({ type: "append", conversationId, texts });
  }

  flush(conversationId: string): Promise<SaveOutcome> {
    return this.#call<SaveOutcome>({ type: "flush", conversationId });
  }

  close(conversationId: string): Promise<SaveOutcome> {
    return this.#call<SaveOutcome>({ type: "close", conversationId });
  }

  /** Stops the client, as a shard does that ends by itself. */
  stop(): Promise<void> {
    return this.#call({ type: "stop", conversationId: "" });
  }

  /** Ends the thread without stopping its client. */
  async terminate(): Promise<void> {
    this.#disconnect();
    await this.#worker.terminate();
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the call returns
  #call<T>(call: ShardCall): Promise<T> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve) => {
      this.#waiting.set(id, (outcome) => resolve(outcome as T));
      this.#post({ type: "call", id, call });
    });
  }

  #post(message: ShardMessage, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}

import { statSync } from "node:fs";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { Deferred, within } from "../../base/time/waiting.js";
import type { ConversationAnswers, ConversationOp, OpenConversation } from "../../messages/actors/conversation.js";
import type {
  PlaceOutcome,
  ShardAnswers,
  ShardEvent,
  ShardOp,
  ShardStarted,
  ShardStats,
} from "../../messages/actors/shard.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure } from "../../messages/failure.js";
import { threadDeath } from "../../workers/same-build.js";
import type { Ref } from "../runtime/actor.js";
import { makeFailure } from "../runtime/failures.js";
import { portRef } from "../runtime/port-ref.js";
import type { ConversationLink, HandleSink } from "../conversation/channel.js";
import { type DeltaMsg, isDeltaMsg } from "../conversation/events.js";
import type { ConversationState } from "../conversation/state/state.js";
import { readStateNow } from "../conversation/store/load-rollout.js";
import type { ToShard } from "./start-shard.js";
import { ShardMemory } from "./shared-memory.js";

const stopBoundMs = 15_000;

/** How long a blocking read waits for lines that are on their way to the file. */
const maxReadWaitMs = 1_000;

/** One conversation of a shard, as the main thread knows it. */
interface Placement {
  readonly conversationId: string;
  readonly sink: HandleSink;
  readonly slot: number;
  /** The last message, if it was a delta. */
  last: { readonly id: string; readonly msg: DeltaMsg } | undefined;
  rolloutPath: string | null;
  /** The length of the rollout with every line recorded before the last message. */
  end: number;
  hasRoom: boolean;
  /** Whether it has something to do, so that the process must not end. */
  isActive: boolean;
  /** Whether the thread has not answered that it is open. */
  isOpening: boolean;
}

/** Why a shard has died. */
export interface ShardDeath {
  readonly reason: string;
  /** The conversation whose code was running, if it is known. */
  readonly runner: string | undefined;
  /** The conversations that were on the shard. */
  readonly lost: readonly LostConversation[];
}

interface LostConversation {
  readonly conversationId: string;
  readonly sink: HandleSink;
  /** Whether it had something to do or was being opened. */
  readonly isActive: boolean;
}

interface ShardParts {
  /** Creates the thread; `control` is the thread's end of the port for messages to its conversations. */
  startThread(control: MessagePort, memory: ShardMemory): Worker;
  onDeath(death: ShardDeath): void;
  /** Called when a conversation has completed a turn. */
  onCompleted(conversationId: string): void;
}

/** The main thread's side of a worker thread that hosts conversations. */
export class Shard {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #ref: Ref<ShardOp, ShardAnswers>;
  readonly #memory = new ShardMemory();
  readonly #placements = new Map<string, Placement>();
  readonly #started = new Deferred<Failure | undefined>();
  /** Resolves when the thread has ended and its conversations know it. */
  readonly #ended = new Deferred<void>();
  readonly #parts: Pick<ShardParts, "onDeath" | "onCompleted">;
  #isPortClosed = false;
  #exitCode: number | undefined;
  readonly #slots = new Map<number, Placement>();
  #lastSlot = 0;
  #calls = 0;
  /** Number of conversations that have something to do. */
  #active = 0;
  #isHeld = false;
  #isStopping = false;
  #reason: string | undefined;
  #beats = 0;
  #silentChecks = 0;

  constructor(parts: ShardParts) {
    const { port1, port2 } = new MessageChannel();
    this.#parts = parts;
    this.#port = port1;
    this.#worker = parts.startThread(port2, this.#memory);
    this.#ref = portRef(port1, "shard");
    port1.on("message", (message: unknown) => {
      // The other messages are Comlink's.
      if (Array.isArray(message)) this.#receive(message as ShardEvent[]);
    });
    port1.on("close", () => {
      this.#isPortClosed = true;
      this.#endAfterAll();
    });
    this.#worker.on("message", (started: ShardStarted) => {
      this.#started.resolve(started.type === "failed" ? makeFailure("invalid_request", started.message) : undefined);
      if (started.type === "failed") void this.#worker.terminate();
    });
    this.#worker.on("error", (error) => (this.#reason = threadDeath(error)));
    this.#worker.on("exit", (code) => {
      this.#exitCode = code;
      this.#endAfterAll();
    });
    // A thread with nothing to do must not keep the process alive.
    port1.unref();
    this.#worker.unref();
  }

  get size(): number {
    return this.#placements.size;
  }

  has(conversationId: string): boolean {
    return this.#placements.has(conversationId);
  }

  send(message: ToShard, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** Opens a conversation in the thread. */
  async place(
    request: OpenConversation,
    paths: readonly { readonly id: string; readonly path: string }[],
    sink: HandleSink,
  ): Promise<{ readonly outcome: PlaceOutcome; readonly link: ConversationLink }> {
    const { conversationId } = request;
    const slot = (this.#lastSlot += 1);
    const start = { last: undefined, rolloutPath: null, end: 0, hasRoom: true, isActive: false, isOpening: true };
    const placement: Placement = { conversationId, sink, slot, ...start };
    this.#placements.set(conversationId, placement);
    this.#slots.set(slot, placement);
    return await this.#held(async () => {
      const failure = await this.#started.promise;
      if (failure !== undefined) {
        this.#remove(conversationId);
        throw new FailureError(failure);
      }
      const outcome = await this.#ref.ask({ type: "place", request, paths: [...paths], slot });
      placement.isOpening = false;
      if (outcome.status !== "placed") this.#remove(conversationId);
      return { outcome, link: this.#link(conversationId, placement) };
    });
  }

  async stats(): Promise<ShardStats> {
    return await this.#held(() => this.#ref.ask({ type: "stats" }));
  }

  /** Ends the thread when its conversations have been closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const stopped = this.#ref.ask({ type: "stop" }).catch(() => undefined);
    await within(Promise.race([stopped, this.#ended.promise]), stopBoundMs);
    await this.#worker.terminate();
  }

  /** Called in regular intervals: a thread whose event loop has not turned for `maxSilentChecks` of them is ended. */
  check(maxSilentChecks: number): void {
    const { beats } = this.#memory;
    this.#silentChecks = beats === this.#beats ? this.#silentChecks + 1 : 0;
    this.#beats = beats;
    if (this.#silentChecks < maxSilentChecks) return;
    this.#reason = "the thread's event loop is blocked";
    void this.#worker.terminate();
  }

  #link(conversationId: string, placement: Placement): ConversationLink {
    return {
      ref: {
        tell: async (op, id = "") => {
          await this.#held(() => this.#ref.ask({ type: "tell", conversationId, id, op } as ShardOpOf<"tell">));
          return id;
        },
        ask: <T extends ConversationOp["type"]>(
          op: Extract<ConversationOp, { type: T }>,
          signal?: AbortSignal,
          id = "",
        ) =>
          this.#held(() =>
            this.#ref.ask({ type: "ask", conversationId, id, op } as ShardOpOf<"ask">, signal),
          ) as Promise<T extends keyof ConversationAnswers ? ConversationAnswers[T] : void>,
        stop: () => this.#release(conversationId),
      },
      state: () => readPlaced(conversationId, placement),
      close: () => this.#release(conversationId),
    };
  }

  async #release(conversationId: string): Promise<void> {
    if (!this.has(conversationId)) return;
    await this.#held(() => this.#ref.ask({ type: "release", conversationId })).catch(() => undefined);
    this.#remove(conversationId);
  }

  #remove(conversationId: string): void {
    const placement = this.#placements.get(conversationId);
    if (placement !== undefined) {
      this.#setActive(placement, false);
      this.#slots.delete(placement.slot);
    }
    this.#placements.delete(conversationId);
    this.#hold();
  }

  #setActive(placement: Placement | undefined, isActive: boolean): void {
    if (placement === undefined || placement.isActive === isActive) return;
    this.#active += isActive ? 1 : -1;
    placement.isActive = isActive;
  }

  #receive(events: readonly ShardEvent[]): void {
    for (const event of events) this.#follow(event);
    this.#hold();
  }

  #follow(event: ShardEvent): void {
    if (event.type === "deltas") return this.#followDeltas(event);
    if (event.type === "active") return this.#setActive(this.#slots.get(event.slot), event.isActive);
    const placement = this.#placements.get(event.conversationId);
    if (placement === undefined) return;
    if (event.type === "failed") return placement.sink.failed();
    if (event.type === "recorded") {
      placement.end = event.end;
      return;
    }
    const { msg, id, end } = event;
    if (end > 0) placement.end = end;
    if (msg.type === "mirror" && msg.change.type === "opened") placement.rolloutPath = msg.change.rolloutPath;
    if (msg.type === "task_complete") this.#parts.onCompleted(event.conversationId);
    placement.last = isDeltaMsg(msg) ? { id, msg } : undefined;
    placement.sink.publish(msg, id);
    if (placement.hasRoom) this.#checkRoom(placement);
  }

  #followDeltas({ slots, counts, texts }: Extract<ShardEvent, { type: "deltas" }>): void {
    let from = 0;
    for (const [index, slot] of slots.entries()) {
      const to = from + (counts[index] ?? 0);
      const placement = this.#slots.get(slot);
      if (placement?.last !== undefined) {
        const { id, msg } = placement.last;
        placement.sink.publishRun({ ...msg, delta: texts[from] ?? "" }, texts.slice(from + 1, to), id);
        if (placement.hasRoom) this.#checkRoom(placement);
      }
      from = to;
    }
  }

  /** Tells the conversation to wait when its readers cannot take more. */
  #checkRoom(placement: Placement): void {
    const { conversationId } = placement;
    const room = placement.sink.room();
    if (room === undefined) return;
    placement.hasRoom = false;
    const tell = (hasRoom: boolean): void =>
      void this.#ref.tell({ type: "room", conversationId, hasRoom }).catch(() => undefined);
    tell(false);
    const resume = (): void => {
      placement.hasRoom = true;
      tell(true);
    };
    void room.then(resume);
  }

  /** The thread counts as dead when everything that it has sent is received. */
  #endAfterAll(): void {
    if (this.#exitCode === undefined || !this.#isPortClosed) return;
    const reason = this.#reason ?? `the thread exited with code ${this.#exitCode}`;
    this.#started.resolve(makeFailure("thread_died", reason, true));
    const { running } = this.#memory;
    const placed = [...this.#placements];
    this.#placements.clear();
    this.#slots.clear();
    if (!this.#isStopping) {
      this.#parts.onDeath({
        reason,
        runner: placed.find(([, { slot }]) => slot === running)?.[0],
        lost: placed.map(([conversationId, { sink, isActive, isOpening }]) => ({
          conversationId,
          sink,
          isActive: isActive || isOpening,
        })),
      });
    }
    this.#ended.resolve();
  }

  /** Keeps the process alive while a call runs or a conversation has something to do. */
  async #held<T>(call: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    this.#hold();
    try {
      return await call();
    } catch (error) {
      // Its port closes before the thread has ended, and the caller may only repeat the call on another one.
      if (this.#isPortClosed) await this.#ended.promise;
      throw error;
    } finally {
      this.#calls -= 1;
      this.#hold();
    }
  }

  #hold(): void {
    const isHeld = this.#calls > 0 || this.#active > 0;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    // A dead thread holds nothing any more, but calls are answered only when its port has closed too.
    for (const held of [this.#worker, this.#port]) {
      if (isHeld) held.ref();
      else held.unref();
    }
  }
}

type ShardOpOf<T extends ShardOp["type"]> = Extract<ShardOp, { type: T }>;

/** Waits until the file has every recorded line, and reads it. Blocks the thread. */
function readPlaced(conversationId: string, { rolloutPath, end }: Placement): ConversationState {
  if (rolloutPath === null) throw notReadable(conversationId, "it has no file");
  const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const until = performance.now() + maxReadWaitMs;
  while (statSync(rolloutPath).size < end) {
    if (performance.now() > until) throw notReadable(conversationId, "its last lines are not written yet");
    Atomics.wait(cell, 0, 0, 1);
  }
  return readStateNow(rolloutPath, conversationId);
}

function notReadable(conversationId: string, reason: string): FailureError {
  const message = `the history of ${conversationId} cannot be read at once: ${reason}. Use await readHistory()`;
  return new FailureError(makeFailure("not_saved", message, true));
}

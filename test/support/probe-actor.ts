import { setImmediate } from "node:timers/promises";
import { MessagePort, workerData } from "node:worker_threads";
import type { Actor } from "../../src/actors/runtime/actor.js";
import type { Failure } from "../../src/messages/failure.js";

export type ProbeOp =
  /** Stores the value in order. */
  | { type: "note"; value: unknown }
  /** Stores the value after one round of the event loop. */
  | { type: "slow_note"; value: number }
  | { type: "notes" }
  | { type: "most_at_once" }
  | { type: "echo"; value: unknown }
  | { type: "publish"; value: unknown }
  /** Answers when released; a gentle one ends when it is aborted, a stubborn one does not. */
  | { type: "hold"; key: string; manner: "gentle" | "stubborn" | "stubborn_then_rejects" }
  | { type: "release"; key: string }
  | { type: "fail"; how: "throw" | "reject"; message: string }
  | { type: "work"; how: "succeed" | "throw" | "until_aborted" }
  | { type: "abort_work" }
  | { type: "answer_oddly"; how: "unclonable" | "deep"; levels: number }
  | { type: "publish_unclonable" }
  | { type: "thread_fault"; how: "exit" | "exit_soon" | "out_of_memory" | "throw_outside" | "close_port" }
  /** Blocks the thread's event loop; `isSpinning` is shared memory, because a blocked thread cannot send messages. */
  | { type: "spin"; isSpinning: Int32Array }
  | { type: "answer_later"; afterMs: number };

export interface ProbeAnswers {
  readonly notes: unknown[];
  readonly most_at_once: number;
  readonly echo: unknown;
  readonly hold: string;
  readonly answer_oddly: unknown;
  readonly answer_later: string;
}

export type ProbeEvent =
  | { type: "starting"; time: number }
  | { type: "published"; value: unknown }
  | { type: "holding"; key: string }
  | { type: "hold_aborted"; key: string }
  | { type: "hold_ended"; key: string }
  | { type: "working" }
  | { type: "work_aborted" }
  | { type: "work_ended"; failure: Failure | undefined }
  | { type: "disposed" };

export interface ProbeOptions {
  /** How many starts throw before one succeeds. */
  readonly failingStarts?: number;
  /** `start` waits for this promise; only for actors in this thread. */
  readonly gate?: Promise<void>;
  readonly disposal?: "throws" | "hangs";
}

type ProbeOwn = { type: "work_over"; failure: Failure | undefined };

export type Probe = Actor<ProbeOp, ProbeAnswers, ProbeOptions, ProbeEvent, ProbeOwn>;

/** An actor that does whatever a test needs an actor to do. */
export function createProbe(): Probe {
  let starts = 0;
  return {
    name: "probe",
    start: async ({ failingStarts = 0, gate, disposal }, context) => {
      const publish = (msg: ProbeEvent, id?: string): void => context.publish(msg, id);
      starts += 1;
      publish({ type: "starting", time: starts });
      if (starts <= failingStarts) throw new Error(`start ${starts} fails`);
      await gate;
      const notes: unknown[] = [];
      const holds = new Map<string, () => void>();
      let slow = 0;
      let mostSlow = 0;
      let work: { abort(): void } | undefined;
      return {
        note: ({ value }) => void notes.push(value),
        slow_note: async ({ value }) => {
          slow += 1;
          mostSlow = Math.max(mostSlow, slow);
          await setImmediate();
          slow -= 1;
          notes.push(value);
        },
        notes: () => [...notes],
        most_at_once: () => mostSlow,
        echo: ({ value }) => value,
        publish: ({ value }, _signal, id) => publish({ type: "published", value }, id),
        hold: async ({ key, manner }, signal) => {
          const { aborted } = signal;
          const released = new Promise<void>((resolve, reject) => {
            holds.set(key, resolve);
            signal.addEventListener("abort", () => {
              publish({ type: "hold_aborted", key });
              if (manner === "gentle") reject(new DOMException("aborted", "AbortError"));
            });
          });
          publish({ type: "holding", key });
          try {
            await released;
            if (manner === "stubborn_then_rejects") throw new Error("too late to matter");
            return `released, aborted at first: ${aborted}`;
          } finally {
            publish({ type: "hold_ended", key });
          }
        },
        release: ({ key }) => holds.get(key)?.(),
        fail: ({ how, message }) => {
          if (how === "throw") throw new Error(message);
          return Promise.reject(new Error(message));
        },
        work: ({ how }) => {
          work = context.run(
            async (signal) => {
              publish({ type: "working" });
              if (how === "throw") throw new Error("work went wrong");
              if (how === "succeed") return;
              await new Promise<void>((_resolve, reject) => {
                signal.addEventListener("abort", () => reject(new Error("work was aborted")));
              }).finally(() => publish({ type: "work_aborted" }));
            },
            (failure) => ({ type: "work_over", failure }),
          );
        },
        abort_work: () => work?.abort(),
        work_over: ({ failure }) => publish({ type: "work_ended", failure }),
        answer_oddly: ({ how, levels }) => (how === "unclonable" ? () => undefined : nested(levels)),
        publish_unclonable: () => publish({ type: "published", value: () => undefined }),
        thread_fault: ({ how }) => faults[how](),
        spin: ({ isSpinning }) => {
          Atomics.store(isSpinning, 0, 1);
          for (;;);
        },
        answer_later: ({ afterMs }) => new Promise((resolve) => setTimeout(resolve, afterMs, "later")),
        [Symbol.asyncDispose]: async () => {
          publish({ type: "disposed" });
          if (disposal === "throws") throw new Error("cannot let go");
          if (disposal === "hangs") await new Promise(() => undefined);
        },
      };
    },
  };
}

/** A value nested this many levels deep. */
export function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

const faults = {
  exit: () => process.exit(7),
  exit_soon: () => void setTimeout(() => process.exit(7), 50),
  out_of_memory: () => {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => index));
  },
  throw_outside: () => {
    queueMicrotask(() => {
      throw new Error("nobody catches this");
    });
  },
  close_port: () => {
    const data: unknown = workerData;
    if (typeof data !== "object" || data === null || !("control" in data)) throw new Error("not in a thread");
    // The thread itself keeps running, so only the closed port shows the failure.
    setInterval(() => undefined, 60_000);
    if (data.control instanceof MessagePort) data.control.close();
  },
};

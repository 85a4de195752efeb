import { setImmediate } from "node:timers/promises";
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
  | { type: "abort_work" };

export interface ProbeAnswers {
  readonly notes: unknown[];
  readonly most_at_once: number;
  readonly echo: unknown;
  readonly hold: string;
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
  /** `start` waits for this promise. */
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
        [Symbol.asyncDispose]: async () => {
          publish({ type: "disposed" });
          if (disposal === "throws") throw new Error("cannot let go");
          if (disposal === "hangs") await new Promise(() => undefined);
        },
      };
    },
  };
}

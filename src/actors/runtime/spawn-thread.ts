import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { ResourceLimits } from "node:worker_threads";
import type { ActorEvent, AnswerOf, Answers, Message, Ref, SpawnOptions } from "./actor.js";
import type { Call } from "./calls.js";
import { defaultCapacity } from "./cell.js";
import { makeFailure } from "./failures.js";
import { onAborted } from "./spawn.js";
import { ThreadCell } from "./thread-cell.js";
import { FailureError } from "../../messages/failure-error.js";

const defaultDeadlineMs = 30_000;

export interface ThreadSpawnOptions<Msg> extends SpawnOptions<Msg> {
  readonly resourceLimits?: ResourceLimits;
  /** A thread that does not take a message within this time is considered dead, because its event loop hangs. */
  readonly deadlineMs?: number;
}

/**
 * Starts an actor in its own thread. `entry` is a built file that calls `serveActor`. When the thread dies, calls
 * reject with `thread_died`, and a new thread replaces it behind the same reference.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows what the entry takes
export function spawnThread<Op extends Message, A extends Answers<Op>, Options, Msg extends Message = never>(
  entry: URL,
  options: Options,
  spawnOptions: ThreadSpawnOptions<Msg> = {},
): Ref<Op, A> {
  const { capacity = defaultCapacity, deadlineMs = defaultDeadlineMs, budget, resourceLimits } = spawnOptions;
  const name = basename(fileURLToPath(entry), ".js");
  const cell = new ThreadCell(
    { entry, name, order: { options, capacity, budget }, resourceLimits, deadlineMs },
    {
      onEvent: spawnOptions.onEvent as ((event: ActorEvent<unknown>) => void) | undefined,
      onRestart: spawnOptions.onRestart,
      onFailed: spawnOptions.onFailed,
    },
  );
  let submissions = 0;
  const nextNumber = (): number => (submissions += 1);
  return {
    tell: (op) => tell(cell, nextNumber(), op),
    ask: <T extends Op["type"]>(op: Extract<Op, { type: T }>, signal?: AbortSignal) =>
      ask(cell, nextNumber(), op, signal) as Promise<AnswerOf<A, T>>,
    stop: () => cell.stop(),
  };
}

function tell(cell: ThreadCell, number: number, op: Message): Promise<string> {
  return new Promise((resolve, reject) => {
    cell.submit({ number, op, kind: "tell", resolve: () => resolve(String(number)), reject });
  });
}

function ask(cell: ThreadCell, number: number, op: Message, signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) return cell.submit({ number, op, kind: "ask", resolve, reject });
    if (signal.aborted) {
      return reject(
        new FailureError(makeFailure("aborted", `${cell.name}: ${op.type}: aborted`), { cause: signal.reason }),
      );
    }
    const forget = onAborted(signal, () => cell.cancel(call, signal.reason));
    const call: Call = {
      number,
      op,
      kind: "cancellable_ask",
      resolve: (answer) => {
        forget();
        resolve(answer);
      },
      reject: (error) => {
        forget();
        reject(error);
      },
    };
    cell.submit(call);
  });
}

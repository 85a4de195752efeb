import { afterEach } from "vitest";
import type { ActorEvent, Ref, SpawnOptions } from "../../src/actors/runtime/actor.js";
import type { Failure } from "../../src/messages/failure.js";
import type { ProbeAnswers, ProbeEvent, ProbeOp, ProbeOptions } from "./probe-actor.js";
import { Watch } from "./watch.js";

export type ProbeRef = Ref<ProbeOp, ProbeAnswers>;

/** Spawns an actor. */
export type Place<O extends SpawnOptions<ProbeEvent> = SpawnOptions<ProbeEvent>> = (
  options: ProbeOptions,
  spawnOptions: O,
) => ProbeRef;

export interface HostedProbe {
  readonly ref: ProbeRef;
  readonly events: Watch<ActorEvent<ProbeEvent>>;
  readonly restarts: Watch<Failure>;
  readonly failures: Watch<Failure>;
  /** The first event of the type, past or future. */
  readonly until: (type: ProbeEvent["type"]) => Promise<ActorEvent<ProbeEvent>>;
  readonly msgs: () => ProbeEvent[];
}

/** Spawns probes whose events, restarts and failures can be observed, and stops them after the test. */
export function probeHost<O extends SpawnOptions<ProbeEvent>>(place: Place<O>) {
  const refs: ProbeRef[] = [];
  afterEach(async () => {
    await Promise.all(refs.splice(0).map((ref) => ref.stop()));
  });
  return (
    options: ProbeOptions = {},
    spawnOptions?: Omit<O, keyof SpawnOptions<ProbeEvent>> & SpawnOptions<ProbeEvent>,
  ): HostedProbe => {
    const events = new Watch<ActorEvent<ProbeEvent>>();
    const restarts = new Watch<Failure>();
    const failures = new Watch<Failure>();
    const watching = { onEvent: events.push, onRestart: restarts.push, onFailed: failures.push };
    const ref = place(options, { ...watching, ...spawnOptions } as O);
    refs.push(ref);
    return {
      ref,
      events,
      restarts,
      failures,
      until: (type) => events.until(({ msg }) => msg.type === type),
      msgs: () => events.seen.map(({ msg }) => msg),
    };
  };
}

/** The failure a call rejected with; throws when it did not reject with one. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && "failure" in error) return error.failure as Failure;
    throw error;
  }
  throw new Error("the call was expected to fail");
}

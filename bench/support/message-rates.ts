import type { Actor, Ref } from "../../src/actors/runtime/actor.js";
import { Deferred } from "../../src/base/time/waiting.js";
import { spawn } from "../../src/actors/runtime/spawn.js";
import { echo } from "./echo.js";
import { perSecond } from "./measure.js";

/** Two arrays drained from microtasks: the minimum work of a mailbox. */
export async function barePingPong(count: number): Promise<number> {
  return await perSecond(
    count,
    () =>
      new Promise<void>((resolve) => {
        const pong = new BareBox(({ value }) => ping.push({ type: "ball", value: value - 1 }));
        const ping: BareBox = new BareBox(({ value }) => {
          if (value <= 0) resolve();
          else pong.push({ type: "ball", value: value - 1 });
        });
        ping.push({ type: "ball", value: count });
      }),
  );
}

export async function actorPingPong(count: number): Promise<number> {
  const over = new Deferred<void>();
  let pong: BallRef | undefined;
  const ping: BallRef = spawn(
    player(() => pong, over),
    null,
  );
  pong = spawn(
    player(() => ping, over),
    null,
  );
  // One round trip first, so that both actors have started.
  await Promise.all([ping.ask({ type: "ball", value: -1 }), pong.ask({ type: "ball", value: -1 })]);
  const rate = await perSecond(count, async () => {
    await ping.tell({ type: "ball", value: count });
    await over.promise;
  });
  await Promise.all([ping.stop(), pong.stop()]);
  return rate;
}

/** A sender that awaits each message, as it does with an actor. */
export async function bareFlood(count: number): Promise<number> {
  let received = 0;
  const box = new BareBox(() => {
    received += 1;
  });
  return await perSecond(count, async () => {
    for (let value = 0; value < count; value += 1) {
      box.push({ type: "ball", value });
      await accepted;
    }
    if (received !== count) throw new Error(`${received} of ${count} messages arrived`);
  });
}

export async function actorFlood(count: number): Promise<number> {
  const ref = spawn(echo, null);
  await ref.ask({ type: "echo", value: 0 });
  const rate = await perSecond(count, async () => {
    for (let value = 1; value < count; value += 1) await ref.tell({ type: "note", value });
    await ref.ask({ type: "echo", value: 0 });
  });
  await ref.stop();
  return rate;
}

interface Ball {
  readonly type: "ball";
  readonly value: number;
}

type BallRef = Ref<Ball, Record<never, never>>;

const accepted = Promise.resolve();

class BareBox {
  readonly #balls: Ball[] = [];
  readonly #drain: () => void;

  constructor(receive: (ball: Ball) => void) {
    const balls = this.#balls;
    this.#drain = () => {
      for (const ball of balls) receive(ball);
      balls.length = 0;
    };
  }

  push(ball: Ball): void {
    // Cheaper than queueMicrotask, which creates an AsyncResource each time.
    if (this.#balls.push(ball) === 1) void accepted.then(this.#drain);
  }
}

function player(other: () => BallRef | undefined, over: Deferred<void>): Actor<Ball, Record<never, never>, null> {
  return {
    name: "player",
    start: () => ({
      ball: ({ value }) => {
        if (value > 0) void other()?.tell({ type: "ball", value: value - 1 });
        else if (value === 0) over.resolve();
      },
    }),
  };
}

import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ShardedOrder } from "../support/children/sharded.js";
import { Child } from "./child.js";
import { suspension, timeoutMs } from "./rounds.js";
import { newWorld } from "./world.js";

test(
  "no thread is replaced because the process was suspended",
  async () => {
    const { home, runtimeDirectory } = await newWorld();
    const setup = new URL("../support/unruly-setup.mjs", import.meta.url).href;
    const child = new Child("children/sharded", { home, runtimeDirectory, setup } satisfies ShardedOrder);
    await child.until(({ type }) => type === "played");
    child.say(1);
    const before = await child.until(({ type }) => type === "threads");
    expect(before).toEqual({ type: "threads", round: 1, message: "shard-1,shard-2", turn: expect.any(String) });
    child.signal("SIGSTOP");
    // Not for synchronisation: the length of the suspension is what is tested.
    await setTimeout(suspension.ms);
    child.signal("SIGCONT");
    // The supervisor runs every second, so that it has looked at the threads before these turns are over.
    const from = child.reports.length;
    let played = 0;
    await child.until(({ type }) => type === "played" && (played += 1) > suspension.turns, from);
    child.say(2);
    const after = await child.until(({ type, round }) => type === "threads" && round === 2);
    expect(after).toEqual({ ...before, round: 2 });
  },
  timeoutMs,
);

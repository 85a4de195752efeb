import { createInterface } from "node:readline";
import { openOwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import { releaseLock, acquireLock } from "../../../src/rollouts/file/lock.js";

// Takes and releases locks on request until it is killed.
const [, , runtimeDirectory = "", rollout = ""] = process.argv;
const { owner } = await openOwnerSocket(runtimeDirectory);
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
say(owner);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === '"take"') say(await acquireLock(rollout, owner, { force: false }));
  else if (line === '"release"') say(await releaseLock(rollout, owner).then(() => "released"));
}

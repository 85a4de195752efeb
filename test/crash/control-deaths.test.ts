import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConnectionLostError, ControlClient } from "../../src/control/control-client.js";
import type { ControlledOrder } from "../support/children/controlled.js";
import { ownSockets } from "../support/own-sockets.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { Child } from "./child.js";
import { interleavings, summarize } from "./rounds.js";
import { newWorld, rolloutPath, type World } from "./world.js";

/** About three turns. */
const maxEventsBeforeKill = 40;

const maxRoundsBeforeKill = 400;

test(
  "whatever others send, approve and stop: messages with keys are used once and calls run once, wherever the process dies",
  async () => {
    const world = await newWorld();
    let unknown = 0;
    for (let round = 1; round <= interleavings.kills; round += 1) unknown += await playRound(world, round);
    expect(unknown).toBeLessThanOrEqual(2 * interleavings.kills);
    summarize(`control: ${interleavings.kills} processes killed, ${unknown} calls with an unknown result`);
  },
  interleavings.timeoutMs,
);

/** Returns the number of calls that were reported as unknown. */
async function playRound(world: World, round: number): Promise<number> {
  const { home, runtimeDirectory } = world;
  const effects = join(home, `effects-${round}`);
  const order = { home, runtimeDirectory, effects };
  const { child, conversation } = await start({ ...order, label: `r${round}a` });
  const keys = Array.from({ length: world.random.whole(1, 4) }, (_, n) => `r${round}.${n}`);
  const clients = await Promise.all([connect(world), connect(world), connect(world), connect(world)]);
  const work = Promise.allSettled([
    sendAll(clients[0], conversation, [...keys], world),
    approveAll(clients[1], conversation),
    approveAll(clients[2], conversation),
    stopSometimes(clients[3], conversation, world),
  ]);
  await busy(await connect(world), conversation, keys, world.random.whole(1, maxEventsBeforeKill));
  for (let wait = world.random.magnitude(1, maxRoundsBeforeKill); wait > 0; wait -= 1) await nextRound();
  await child.kill();
  // Everybody learns of the death.
  const errors = (await work).flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as Error] : []));
  expect(errors.map(({ name }) => name)).toEqual(errors.map(() => "ConnectionLostError"));
  const next = await start({ ...order, label: `r${round}b`, conversation });
  const client = await connect(world);
  const approving = approveAll(client, conversation);
  await sendAll(await connect(world), conversation, keys, world);
  await finish(await connect(world), conversation, `r${round}.last`);
  await next.child.end();
  await approving;
  return await expectOnce(world, conversation, [...keys, `r${round}.last`], effects);
}

async function start(order: ControlledOrder): Promise<{ child: Child; conversation: string }> {
  const child = new Child("children/controlled", order);
  const { conversation = "" } = await child.until(({ type }) => type === "open");
  return { child, conversation };
}

async function connect({ runtimeDirectory }: World): Promise<ControlClient> {
  for (;;) {
    const [path] = await ownSockets({ XDG_RUNTIME_DIR: runtimeDirectory });
    // A socket is visible before its process listens on it.
    const client = path === undefined ? undefined : await ControlClient.connect(path).catch(ignoreLost);
    if (client !== undefined) return client;
    await nextRound();
  }
}

async function sendAll(
  client: ControlClient,
  conversation_id: string,
  keys: readonly string[],
  { random }: World,
): Promise<void> {
  for (const key of keys) {
    const type = random.whole(1, 2) === 1 ? ("steer" as const) : ("queue" as const);
    const op = { type, key, items: [{ type: "text" as const, text: key }] };
    await client.ask({ type: "submit", conversation_id, op });
  }
}

/** Approves every request until the conversation ends or its process dies. */
async function approveAll(client: ControlClient, conversation_id: string): Promise<void> {
  const { conversation, events } = await client.events(conversation_id, "0");
  const approve = (approval_id: string): void => {
    // Another client may have answered.
    client.ask({ type: "answer_approval", conversation_id, approval_id, decision: "approved" }).catch(() => undefined);
  };
  for (const { approval_id } of conversation.approvals) approve(approval_id);
  for await (const { event } of events) {
    if (event.msg.type === "exec_approval_request") approve(event.msg.approval_id);
  }
}

/** Begins a turn after each that ends, with further keys, until so many events were seen. */
async function busy(client: ControlClient, conversation_id: string, keys: string[], count: number): Promise<void> {
  let seen = 0;
  const begin = async (): Promise<void> => {
    const key = `${conversation_id}.${seen}`;
    keys.push(key);
    const op = { type: "queue" as const, key, items: [{ type: "text" as const, text: key }] };
    await client.ask({ type: "submit", conversation_id, op });
  };
  const { events } = await client.events(conversation_id, "0");
  await begin();
  for await (const { event } of events) {
    seen += 1;
    if (seen >= count) return;
    // A message that `stop` has dropped ends in an error.
    if (["task_complete", "turn_aborted", "error"].includes(event.msg.type)) await begin();
  }
}

/** A message that is dropped by this is not in the file, so it is accepted again under its key. */
async function stopSometimes(client: ControlClient, conversation_id: string, { random }: World): Promise<void> {
  for (let times = random.whole(0, 2); times > 0; times -= 1) {
    for (let wait = random.magnitude(1, maxRoundsBeforeKill); wait > 0; wait -= 1) await nextRound();
    await client.ask({ type: "stop", conversation_id });
  }
}

/** Waits for a turn after all others. */
async function finish(client: ControlClient, conversation_id: string, key: string): Promise<void> {
  const { events } = await client.events(conversation_id, "0");
  const op = { type: "queue" as const, key, items: [{ type: "text" as const, text: key }] };
  const { submission_id } = await client.ask({ type: "submit", conversation_id, op });
  for await (const { event } of events) {
    if (event.id === submission_id && event.msg.type === "task_complete") return;
  }
  throw new Error("the conversation ended before its last turn");
}

async function expectOnce(
  world: World,
  conversation: string,
  keys: readonly string[],
  effects: string,
): Promise<number> {
  const payloads = (await rolloutLines(rolloutPath(world, conversation))).map(({ payload }) => payload);
  const ofType = (type: string) => payloads.filter((payload) => payload["type"] === type);
  const used = ofType("user_message").map(({ key }) => String(key));
  expect({ conversation, used: used.toSorted() }).toEqual({ conversation, used: keys.toSorted() });
  const decided = ofType("approval_decided").map(({ approval_id }) => String(approval_id));
  expect({ conversation, decided }).toEqual({ conversation, decided: [...new Set(decided)] });
  const ran = (await readFile(effects, "utf8")).split("\n").filter((line) => line !== "");
  expect({ conversation, ran }).toEqual({ conversation, ran: [...new Set(ran)] });
  const outputs = ofType("function_call_output");
  const unknown = outputs.filter(({ output }) => String(output).includes("result unknown"));
  // Every call that was answered has run, unless its turn was stopped or its process died before its result was known.
  const known = outputs.filter((item) => !unknown.includes(item) && item["output"] !== "aborted by the user");
  for (const { call_id } of known) expect(ran).toContain(call_id);
  return unknown.length;
}

function ignoreLost(error: unknown): undefined {
  if (!(error instanceof ConnectionLostError)) throw error;
}

function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

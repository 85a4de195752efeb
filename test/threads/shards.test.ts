import { execFile } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { ConversationManager } from "../../src/manager.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { marked, processesWith } from "../support/processes.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { shardHeapMb, ShardWorkers } from "../support/shard-workers.js";
import { assistant, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const setup = new URL("../support/unruly-setup.mjs", import.meta.url);

async function openShards(options: ManagerOptions = {}): Promise<ConversationManager> {
  const { manager } = await openManager({ threads: 2, setup, threadHeapMb: shardHeapMb, ...options });
  return manager;
}

async function open(manager: ConversationManager): Promise<{ conversation: Conversation; events: EventLog }> {
  const { conversation } = await manager.newConversation({ provider: "unruly", model: "unruly" });
  return { conversation, events: new EventLog(conversation) };
}

/** Checks that every turn in the file has exactly one end, and returns the types of the ends. */
async function endsInFile(conversation: Conversation): Promise<string[]> {
  const lines = await rolloutLines(conversation.rolloutPath);
  const started = lines.flatMap(({ payload }) => (payload["type"] === "task_started" ? [payload["turn_id"]] : []));
  const ends = lines.filter(({ payload }) => ["task_complete", "turn_aborted"].includes(String(payload["type"])));
  expect(ends.map(({ payload }) => payload["turn_id"])).toEqual(started);
  return ends.map(({ payload }) => String(payload["type"]));
}

function expectNoGaps(events: EventLog): void {
  expect(events.seen.map(({ seq }) => seq)).toEqual(events.seen.map((_, index) => index));
}

test("a process that waits for nothing but the events of a thread stays alive until they have come", async () => {
  const file = fileURLToPath(new URL("../../build/test-children/dist/children/waiter.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, await temporaryFolder()]);
  expect(stdout).toBe("all events came\n");
});

test("conversations run in two threads, and the handle answers at once", async () => {
  const manager = await openShards();
  const [one, two] = [await open(manager), await open(manager)];
  expect(await one.conversation.processMessage("say hello")).toEqual([user("say hello"), assistant("hello")]);
  expect(await two.conversation.processMessage("slow 5")).toEqual([user("slow 5"), assistant("slow")]);
  const { shards, awake } = await manager.stats();
  expect(awake).toBe(2);
  expect(shards.map(({ conversations, isQuarantine }) => ({ conversations, isQuarantine }))).toEqual([
    { conversations: 1, isQuarantine: false },
    { conversations: 1, isQuarantine: false },
  ]);
  await one.conversation.rename("A name");
  expect(one.conversation).toMatchObject({ name: "A name", turns: 1, openTurn: undefined });
  expect(one.conversation.turn).toMatchObject({ text: "hello", status: { status: "completed" } });
  expect(one.conversation.getHistory()).toEqual([user("say hello"), assistant("hello")]);
  expect(await one.conversation.readHistory()).toEqual(one.conversation.getHistory());
  expect(one.conversation.history.turns).toHaveLength(1);
  expect(one.conversation.getInitialContext()[0]).toMatchObject({ role: "developer" });
});

test("a history that was replaced without an event is read at once, from whatever thread", async () => {
  const { conversation } = await open(await openShards());
  for (const text of ["one", "two", "three"]) {
    await conversation.replaceHistory([user(text)]);
    expect(conversation.getHistory()).toEqual([user(text)]);
  }
});

test("after the shutdown of the manager every call is refused", async () => {
  const manager = await openShards();
  const { conversation } = await open(manager);
  await manager.shutdown();
  const refusal = { code: "actor_stopped", message: `conversation ${conversation.id} has ended` };
  await expect(conversation.submit("say more")).rejects.toMatchObject(refusal);
  await expect(conversation.readHistory()).rejects.toMatchObject(refusal);
});

test("an answer is read as fast as a lossless reader reads it, in whatever thread", async () => {
  const manager = await openShards();
  const { conversation } = await open(manager);
  await conversation.submit("slow 5000");
  let deltas = "";
  for await (const { msg } of conversation.events({ lossless: true })) {
    if (msg.type === "agent_message_delta") deltas += msg.delta;
    if (msg.type === "task_complete") break;
    expect(msg.type).not.toBe("lagged");
  }
  expect(deltas).toContain("4999 ");
});

test("when a thread dies, steered and queued messages that had not begun begin their turns once", async () => {
  const manager = await openShards({ threads: 1 });
  const [{ conversation, events }, dying] = [await open(manager), await open(manager)];
  const aborted = await conversation.submit("hang");
  await events.until("agent_message_delta");
  const steered = await conversation.steer("say steered");
  const queued = await conversation.queue("say queued", { key: "q" });
  await dying.conversation.submit("exit 7");
  await events.until("turn_aborted");
  expect(await conversation.queue("say queued", { key: "q" })).toEqual({ status: "duplicate", id: queued.id });
  for (const id of [steered.id, queued.id]) {
    await events.until("task_complete");
    expect(events.seen.at(-1)?.id).toBe(id);
  }
  const messages = events.seen.filter(({ msg }) => msg.type === "user_message").map(({ id }) => id);
  expect(messages).toEqual([aborted, steered.id, queued.id]);
  expectNoGaps(events);
});

test.each(["exit 7", "throw a bug", "exhaust"])(
  "when a thread dies (%s), its turn is aborted once and its conversations continue elsewhere",
  { timeout: 60_000 },
  async (death) => {
    const manager = await openShards();
    const [dying, elsewhere, beside] = [await open(manager), await open(manager), await open(manager)];
    await beside.conversation.processMessage("say before");
    await elsewhere.conversation.submit("hang");
    await elsewhere.events.until("agent_message_delta");
    const id = await dying.conversation.submit(death);
    const queued = await dying.conversation.submit("say queued");
    await dying.events.until("turn_aborted");
    expect(dying.events.seen.at(-1)?.id).toBe(id);
    await dying.events.until("task_complete");
    expect(dying.events.seen.at(-1)?.id).toBe(queued);
    expectNoGaps(dying.events);
    expect(await endsInFile(dying.conversation)).toEqual(["turn_aborted", "task_complete"]);
    expect(await beside.conversation.processMessage("say after")).toEqual([user("say after"), assistant("after")]);
    expect(await endsInFile(beside.conversation)).toEqual(["task_complete", "task_complete"]);
    // The other thread has noticed nothing.
    expect(elsewhere.conversation.openTurn).toBeDefined();
    await elsewhere.conversation.interrupt();
    await elsewhere.events.until("turn_aborted");
    expectNoGaps(elsewhere.events);
  },
);

test("an open approval request survives the death of its thread", async () => {
  const manager = await openShards({ threads: 1 });
  const [waiting, dying] = [await open(manager), await open(manager)];
  const id = await waiting.conversation.submit("effect made.txt");
  const request = await waiting.events.until("exec_approval_request");
  await dying.conversation.submit("exit 1");
  await dying.events.until("turn_aborted");
  await waiting.conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "approved" });
  await waiting.events.until("task_complete");
  expect(waiting.events.seen.at(-1)?.id).toBe(id);
  const requests = waiting.events.types().filter((type) => type === "exec_approval_request");
  expect(requests).toHaveLength(1);
  expectNoGaps(waiting.events);
  expect(await endsInFile(waiting.conversation)).toEqual(["task_complete"]);
});

test(
  "a conversation that ends its thread three times is stopped, and the others are not",
  { timeout: 60_000 },
  async () => {
    const manager = await openShards({ threads: 1 });
    const [bad, good] = [await open(manager), await open(manager)];
    await good.conversation.processMessage("say one");
    for (const round of [1, 2]) {
      await bad.conversation.submit(`exit ${round}`);
      await bad.events.until("turn_aborted");
    }
    await bad.conversation.submit("exit 3");
    const { message } = await bad.events.until("error");
    expect(message).toContain("the conversation was stopped: its thread has died 3 times");
    await expect(bad.conversation.submit("say more")).rejects.toThrow("has ended");
    expect(await good.conversation.processMessage("say two")).toEqual([user("say two"), assistant("two")]);
  },
);

test("the processes of a thread's tools end with it", async () => {
  const mark = marked("shards");
  const manager = await openShards({
    threads: 1,
    config: { sandbox: "danger-full-access", toolEnv: [mark.name] },
    env: { ...mark.env, PATH: process.env["PATH"] },
  });
  const [running, dying] = [await open(manager), await open(manager)];
  await running.conversation.submit("run echo runs; sleep 1000 & sleep 1000");
  await running.events.until("exec_command_output_delta");
  expect((await processesWith(mark)).length).toBeGreaterThan(1);
  await dying.conversation.submit("exit 1");
  await running.events.until("turn_aborted");
  await expect.poll(() => processesWith(mark), { timeout: 10_000 }).toEqual([]);
});

test("the end of a thread closes no file of another thread", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({
    threads: 1,
    config: { sandbox: "danger-full-access" },
    env: { PATH: process.env["PATH"] },
  });
  const { conversation } = await open(manager);
  for (let round = 1; round <= 5; round += 1) await conversation.processMessage("run echo runs");
  // They get the numbers of the pipes that the commands have used.
  const path = join(await temporaryFolder(), "file");
  const files = Array.from({ length: 50 }, () => openSync(path, "w"));
  await workers.terminate();
  await conversation.processMessage("say after");
  for (const file of files) expect(() => closeSync(file)).not.toThrow();
});

test("a setup module that is missing or throws fails the first call with its path", async () => {
  const folder = await temporaryFolder();
  const throwing = join(folder, "throws.mjs");
  await writeFile(throwing, `throw new Error("not today");`);
  for (const threads of [0, 1]) {
    for (const [path, reason] of [
      [join(folder, "missing.mjs"), "missing.mjs"],
      [throwing, "throws.mjs: not today"],
    ] as const) {
      const manager = await openShards({ threads, setup: pathToFileURL(path) });
      await expect(manager.newConversation({})).rejects.toThrow(reason);
    }
  }
});

test("a shutdown ends the turns of all threads and saves them", async () => {
  const manager = await openShards();
  const opened = await Promise.all(Array.from({ length: 6 }, () => open(manager)));
  await Promise.all(opened.map(({ conversation }) => conversation.submit("hang")));
  await Promise.all(opened.map(({ events }) => events.until("agent_message_delta")));
  await manager.shutdown();
  for (const { conversation, events } of opened) {
    await events.until("shutdown_complete");
    expect(await endsInFile(conversation)).toEqual(["turn_aborted"]);
  }
});

test("a thread that dies while it starts is replaced", async () => {
  let deaths = 0;
  const workers = new ShardWorkers((worker) => {
    if ((deaths += 1) <= 2) void worker.terminate();
  });
  const manager = await openShards();
  const { conversation } = await open(manager);
  expect(await conversation.processMessage("say hello")).toEqual([user("say hello"), assistant("hello")]);
  expect(workers.ended.size).toBe(2);
});

test("a conversation whose thread dies while it is created is created again, and saved", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({ threads: 1 });
  for (let turns = 0; turns < 12; turns += 1) {
    const opening = open(manager);
    // Each round the thread dies a little later.
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    await workers.terminate();
    const { conversation } = await opening;
    await conversation.processMessage("say hello");
    expect(await endsInFile(conversation)).toEqual(["task_complete"]);
    await conversation.shutdown();
  }
});

test("asks that are sent while a thread dies are answered by the next one", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({ threads: 1 });
  const { conversation, events } = await open(manager);
  for (let round = 1; round <= 5; round += 1) {
    const ended = workers.terminate();
    const asks: Promise<unknown[]>[] = [];
    for (const before = workers.ended.size; workers.ended.size === before; await new Promise(setImmediate)) {
      asks.push(conversation.readHistory());
    }
    const answers = new Set((await Promise.all(asks)).map((history) => history.length));
    await ended;
    expect([...answers]).toEqual([2 * (round - 1)]);
    await conversation.processMessage(`say ${round}`);
  }
  await events.until("task_complete");
  expectNoGaps(events);
});

test("a conversation whose thread dies while it falls asleep or wakes up stays usable", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({ threads: 1 });
  const { conversation } = await open(manager);
  for (let round = 1; round <= 5; round += 1) {
    const ended = workers.terminate();
    const [asleep] = await Promise.all([conversation.sleep(), conversation.rename(`name ${round}`), ended]);
    expect(typeof asleep).toBe("boolean");
    expect(await conversation.processMessage(`say ${round}`)).toEqual([user(`say ${round}`), assistant(String(round))]);
    expect(await conversation.sleep()).toBe(true);
    const waking = conversation.processMessage("say awake");
    await workers.terminate();
    expect(await waking).toEqual([user("say awake"), assistant("awake")]);
  }
  expect(await endsInFile(conversation)).toEqual(Array.from({ length: 10 }, () => "task_complete"));
});

test("a shutdown ends the turn of a conversation whose thread dies meanwhile", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({ threads: 1 });
  const [one, two] = [await open(manager), await open(manager)];
  for (const { conversation, events } of [one, two]) {
    await conversation.submit("hang");
    await events.until("agent_message_delta");
    await conversation.submit("say queued");
  }
  const ended = workers.terminate();
  await Promise.all([one.conversation.shutdown(), two.conversation.submit({ type: "shutdown" }), ended]);
  for (const { conversation, events } of [one, two]) {
    await events.until("shutdown_complete");
    const ends = events.types().filter((type) => ["task_complete", "turn_aborted", "error"].includes(type));
    expect(ends).toHaveLength(2);
    expect(ends[0]).toBe("turn_aborted");
    expectNoGaps(events);
    await endsInFile(conversation);
  }
});

test("pins and settings that wait for the end of a turn survive the death of its thread", async () => {
  const workers = new ShardWorkers();
  const manager = await openShards({ threads: 1 });
  const { conversation, events } = await open(manager);
  await conversation.submit("hang");
  await events.until("agent_message_delta");
  await conversation.pin("never forget");
  await workers.terminate();
  await conversation.submit({ type: "override_turn_context", approval_policy: "never" });
  await events.until("turn_aborted");
  await conversation.processMessage("say hello");
  const texts = JSON.stringify(await conversation.readHistory());
  expect(texts.split("never forget")).toHaveLength(2);
  expect(conversation.settings.approvalPolicy).toBe("never");
});

test("a conversation that has completed a turn since its thread died is not stopped", async () => {
  const manager = await openShards({ threads: 1 });
  const { conversation, events } = await open(manager);
  for (let round = 1; round <= 4; round += 1) {
    await conversation.submit("exit 1");
    await events.until("turn_aborted");
    expect(await conversation.processMessage("say sorry")).toEqual([user("say sorry"), assistant("sorry")]);
  }
});

test("an import keeps the name of a provider in the setup module", async () => {
  const manager = await openShards();
  const { conversation } = await open(manager);
  await conversation.processMessage("say hello");
  await manager.shutdown();
  const other = await openShards();
  const imported = await other.importConversation(conversation.rolloutPath ?? "");
  if (imported.status !== "imported") throw new Error(imported.status);
  expect(imported.losses.counts).toEqual({});
});

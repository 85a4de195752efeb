import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RolloutOutbox } from "../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket, type OwnerSocket } from "../../src/actors/rollout-writer/rollout-locks.js";
import { WriterThread, type WriterThreadOptions } from "../../src/actors/rollout-writer/writer-thread.js";
import { encodeLine } from "../../src/rollouts/file/encode.js";
import { entryUrl } from "../../src/workers/entry-url.js";
import { plainEncoder } from "../support/redaction.js";
import { said } from "../support/said.js";
import { testThread } from "../support/test-thread.js";
import { WriterShard } from "../support/writer-shard.js";

let directory = "";
let socket: OwnerSocket;
let cleanUp: (() => Promise<void>)[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "cody-clients-"));
  socket = await openOwnerSocket(directory);
  cleanUp = [];
});
afterEach(async () => {
  for (const end of cleanUp) await end();
  await socket.close();
  rmSync(directory, { recursive: true });
});

const saved = { status: "saved" };
const inUse = { status: "in_use", owner: `this process (pid ${process.pid})` };

function start(entry = entryUrl("rollout-writer"), options: WriterThreadOptions = {}): RolloutOutbox {
  const outbox = new RolloutOutbox({ writer: new WriterThread(() => entry, options), owner: async () => socket.owner });
  cleanUp.push(() => outbox.stop());
  return outbox;
}

function shardOf(outbox: RolloutOutbox): WriterShard {
  const shard = new WriterShard(outbox, socket.owner);
  cleanUp.unshift(() => shard.terminate());
  return shard;
}

function request(id: string, mode: "create" | "append") {
  return { conversationId: id, path: pathOf(id), mode, encode: plainEncoder };
}

function pathOf(id: string): string {
  return join(directory, `${id}.jsonl`);
}

function content(id: string): string {
  return readFileSync(pathOf(id), "utf8");
}

function lines(...texts: string[]): string {
  return texts.map((text) => encodeLine(said(text))).join("");
}

test("two shards and the main thread save through one writer thread", async () => {
  const outbox = start();
  const [one, two] = [shardOf(outbox), shardOf(outbox)];
  const { rollout } = await outbox.open(request("main", "create"));
  expect(await one.open("one", pathOf("one"), "create")).toEqual({ status: "open", bytes: 0 });
  expect(await two.open("two", pathOf("two"), "create")).toEqual({ status: "open", bytes: 0 });
  rollout.append(said("m"));
  await Promise.all([one.append("one", "a", "b"), two.append("two", "c")]);
  expect(await Promise.all([rollout.flush(), one.flush("one"), two.flush("two")])).toEqual([saved, saved, saved]);
  expect([content("main"), content("one"), content("two")]).toEqual([lines("m"), lines("a", "b"), lines("c")]);
});

test("a conversation that is open in one client is in use for the others until it is closed", async () => {
  const outbox = start();
  const [one, two] = [shardOf(outbox), shardOf(outbox)];
  await one.open("a", pathOf("a"), "create");
  expect(await two.open("a", pathOf("a"), "append")).toEqual(inUse);
  expect((await outbox.open(request("a", "append"))).outcome).toEqual(inUse);
  await one.append("a", "still writable");
  expect(await one.close("a")).toEqual(saved);
  expect(await two.open("a", pathOf("a"), "append")).toEqual({ status: "open", bytes: content("a").length });
  expect(content("a")).toBe(lines("still writable"));
});

test("what a shard has sent before its death is saved, and another client can open the conversation", async () => {
  const outbox = start();
  const shard = shardOf(outbox);
  const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
  await Promise.all(ids.map((id) => shard.open(id, pathOf(id), "create")));
  await Promise.all(ids.map((id) => shard.append(id, "one")));
  expect(await Promise.all(ids.map((id) => shard.flush(id)))).toEqual(ids.map(() => saved));
  // Sent before the answer comes, and not synced.
  await shard.append("c0", "two");
  await shard.terminate();
  const opened = await Promise.all(ids.map((id) => outbox.open(request(id, "append"))));
  const expected = ids.map((id) => (id === "c0" ? lines("one", "two") : lines("one")));
  expect(opened.map(({ outcome }) => outcome)).toEqual(
    expected.map(({ length }) => ({ status: "open", bytes: length })),
  );
  for (const { rollout } of opened) rollout.append(said("three"));
  await Promise.all(opened.map(({ rollout }) => rollout.flush()));
  expect(ids.map(content)).toEqual(expected.map((before) => before + lines("three")));
  expect(ids.every((id) => existsSync(`${pathOf(id)}.lock`))).toBe(true);
});

test("a shard that stops its client releases its locks", async () => {
  const shard = shardOf(start());
  await shard.open("a", pathOf("a"), "create");
  await shard.append("a", "one");
  await shard.stop();
  expect(content("a")).toBe(lines("one"));
  expect(existsSync(`${pathOf("a")}.lock`)).toBe(false);
});

test("when the writer's thread is replaced, every shard gets a new port and sends its lines again", async () => {
  const outbox = start(testThread("dying-writer"), { budget: { restarts: 10_000, windowMs: 1_000 } });
  const shards = [shardOf(outbox), shardOf(outbox)];
  const ids = Array.from({ length: 10 }, (_, index) => `c${index}`);
  const texts = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  await Promise.all(
    shards.flatMap((shard, number) =>
      ids.map(async (id) => {
        const conversation = `${id}-${number}`;
        await shard.open(conversation, pathOf(conversation), "create");
        for (const text of texts) {
          await shard.append(conversation, text);
          while ((await shard.flush(conversation)).status !== "saved");
        }
      }),
    ),
  );
  for (const id of ids) for (const number of [0, 1]) expect(content(`${id}-${number}`)).toBe(lines(...texts));
});

test("a shard learns that the writer has failed for good", async () => {
  const shard = shardOf(start(testThread("missing")));
  expect(await shard.open("a", pathOf("a"), "create")).toMatchObject({
    status: "not_saved",
    reason: expect.stringContaining("failed for good") as unknown,
  });
});

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RolloutOutbox, unsavedRollout, type RolloutOutboxOptions } from "../../../src/actors/rollout-writer/outbox.js";
import { openOwnerSocket, type OwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import type { WriterListener, WriterSource } from "../../../src/actors/rollout-writer/writer-thread.js";
import { encodeLine } from "../../../src/rollouts/file/encode.js";
import { nodeFileSystem, type FileSystem } from "../../../src/rollouts/file/file-system.js";
import { failing, Faults, Gate } from "./intercepted-file-system.js";
import { LocalWriter } from "../../support/local-writer.js";
import { plainEncoder } from "../../support/redaction.js";
import { said } from "../../support/said.js";

let directory = "";
let socket: OwnerSocket;
let outboxes: RolloutOutbox[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "cody-outbox-"));
  socket = await openOwnerSocket(directory);
  outboxes = [];
});
afterEach(async () => {
  await Promise.all(outboxes.map((outbox) => outbox.stop()));
  await socket.close();
  rmSync(directory, { recursive: true });
});

const saved = { status: "saved" };

function start(fileSystem: FileSystem = nodeFileSystem, options: Partial<RolloutOutboxOptions> = {}): RolloutOutbox {
  const outbox = new RolloutOutbox({
    writer: new LocalWriter(fileSystem),
    owner: async () => socket.owner,
    ...options,
  });
  outboxes.push(outbox);
  return outbox;
}

function request(id: string, mode: "create" | "append" = "create") {
  return { conversationId: id, path: join(directory, `${id}.jsonl`), mode, encode: plainEncoder };
}

function content(id: string): string {
  return readFileSync(join(directory, `${id}.jsonl`), "utf8");
}

test("appended lines are in the file in order after flush", async () => {
  const { outcome, rollout } = await start().open(request("a"));
  expect(outcome).toEqual({ status: "open", bytes: 0 });
  expect(rollout.path).toBe(join(directory, "a.jsonl"));
  const lines = Array.from({ length: 500 }, (_, index) => said(index));
  for (const line of lines) rollout.append(line);
  expect(await rollout.flush()).toEqual(saved);
  expect(content("a")).toBe(lines.map(encodeLine).join(""));
  expect(await rollout.close()).toEqual(saved);
});

test("the second flush covers lines appended between two flushes", async () => {
  const { rollout } = await start().open(request("a"));
  rollout.append(said(1));
  const first = rollout.flush();
  rollout.append(said(2));
  expect(await Promise.all([first, rollout.flush()])).toEqual([saved, saved]);
  expect(content("a")).toBe(encodeLine(said(1)) + encodeLine(said(2)));
});

test("a conversation that is already open in this outbox is in use", async () => {
  const outbox = start();
  await outbox.open(request("a"));
  const { outcome, rollout } = await outbox.open(request("a", "append"));
  expect(outcome).toEqual({ status: "in_use", owner: `this process (pid ${process.pid})` });
  expect(rollout).toBe(unsavedRollout);
});

test("a conversation of another owner is in use until that owner closes it", async () => {
  const other = await openOwnerSocket(directory);
  const theirs = await start(nodeFileSystem, { owner: async () => other.owner }).open(request("a"));
  const outbox = start();
  expect((await outbox.open(request("a", "append"))).outcome).toMatchObject({ status: "in_use" });
  await theirs.rollout.close();
  expect((await outbox.open(request("a", "append"))).outcome).toEqual({ status: "open", bytes: 0 });
  await other.close();
});

test("an outbox over its limit is full, but still accepts lines", async () => {
  const faults = new Faults();
  const outbox = start(faults.fileSystem, { limitBytes: 1000 });
  const [one, two] = await Promise.all([outbox.open(request("a")), outbox.open(request("b"))]);
  faults.always("fdatasync", failing("EIO"));
  expect(one.rollout.full).toBe(false);
  one.rollout.append(said("x".repeat(1000)));
  expect([one.rollout.full, two.rollout.full]).toEqual([true, true]);
  one.rollout.append(said("more"));
  expect(await one.rollout.flush()).toEqual({ status: "not_saved", reason: "input/output error" });
  expect(two.rollout.full).toBe(true);
  faults.clear();
  expect(await one.rollout.flush()).toEqual(saved);
  expect([one.rollout.full, two.rollout.full]).toEqual([false, false]);
  expect(content("a")).toBe(encodeLine(said("x".repeat(1000))) + encodeLine(said("more")));
});

test("lines of a file that could not be opened are saved as soon as it can be", async () => {
  writeFileSync(join(directory, "a.jsonl"), encodeLine(said("before")));
  const faults = new Faults();
  faults.always("open", failing("EACCES"));
  const { outcome, rollout } = await start(faults.fileSystem).open(request("a", "append"));
  expect(outcome).toEqual({ status: "not_saved", reason: "permission denied" });
  rollout.append(said("one"));
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "permission denied" });
  faults.clear();
  expect(await rollout.flush()).toEqual(saved);
  rollout.append(said("two"));
  expect(await rollout.flush()).toEqual(saved);
  expect(content("a")).toBe(["before", "one", "two"].map((text) => encodeLine(said(text))).join(""));
});

test("flush does not wait for a file that was opened late and cannot be written", async () => {
  const faults = new Faults();
  faults.always("open", failing("ENOSPC"));
  const { outcome, rollout } = await start(faults.fileSystem, { deadlineMs: 2_000 }).open(request("a"));
  const notSaved = { status: "not_saved", reason: "disk full" };
  expect(outcome).toEqual(notSaved);
  faults.clear();
  faults.always("write", failing("ENOSPC"));
  rollout.append(said("one"));
  expect(await rollout.flush()).toEqual(notSaved);
  expect(await rollout.flush()).toEqual(notSaved);
  rollout.append(said("two"));
  expect(await rollout.flush()).toEqual(notSaved);
  faults.clear();
  expect(await rollout.flush()).toEqual(saved);
  expect(content("a")).toBe(encodeLine(said("one")) + encodeLine(said("two")));
});

test("nothing is saved without an owner, until there is one", async () => {
  let broken = true;
  const owner = async () => {
    if (broken) throw new Error("the runtime directory does not belong to this user");
    return socket.owner;
  };
  const { outcome, rollout } = await start(nodeFileSystem, { owner }).open(request("a"));
  const reason = "the runtime directory does not belong to this user";
  expect(outcome).toEqual({ status: "not_saved", reason });
  rollout.append(said("one"));
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason });
  broken = false;
  expect(await rollout.flush()).toEqual(saved);
  expect(content("a")).toBe(encodeLine(said("one")));
});

test("flush waits for an unresponsive writer only until the deadline", async () => {
  const faults = new Faults();
  const gate = new Gate();
  const { rollout } = await start(faults.fileSystem, { deadlineMs: 50 }).open(request("a"));
  faults.once("fdatasync", gate.hold);
  rollout.append(said("one"));
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "the writer did not answer in 0.05 s" });
  gate.open();
  expect(await rollout.flush()).toEqual(saved);
});

test("a new writer gets the lines its predecessor had not acknowledged", async () => {
  // Every third append kills the writer.
  let appends = 0;
  const writer = new LocalWriter(nodeFileSystem, undefined, ({ type }) => {
    if (type === "append") appends += 1;
    return type === "append" && appends % 3 === 0;
  });
  const { rollout } = await start(nodeFileSystem, { writer }).open(request("a"));
  const lines = Array.from({ length: 30 }, (_, index) => said(index));
  for (const line of lines) {
    rollout.append(line);
    expect(await rollout.flush()).toEqual(saved);
  }
  expect(content("a")).toBe(lines.map(encodeLine).join(""));
  expect(writer.starts).toBeGreaterThan(10);
});

test("a writer that dies while it closes a conversation leaves no lock", async () => {
  let closes = 0;
  const writer = new LocalWriter(nodeFileSystem, undefined, ({ type }) => {
    if (type === "close") closes += 1;
    return type === "close" && closes === 1;
  });
  const outbox = start(nodeFileSystem, { writer });
  const { rollout } = await outbox.open(request("a"));
  rollout.append(said("one"));
  expect(await rollout.close()).toEqual(saved);
  await vi.waitFor(() => expect(existsSync(join(directory, "a.jsonl.lock"))).toBe(false));
  expect((await outbox.open(request("a", "append"))).outcome).toEqual({ status: "open", bytes: content("a").length });
});

test("every call reports that the writer has failed permanently", async () => {
  const reason = "the writer failed for good";
  const writer = {
    connect: ({ onFailed }: WriterListener) => {
      onFailed(reason);
      return () => undefined;
    },
  };
  const notSaved = { status: "not_saved", reason };
  const outbox = start(nodeFileSystem, { writer });
  const { outcome, rollout } = await outbox.open(request("a"));
  expect(outcome).toEqual(notSaved);
  rollout.append(said("one"));
  expect(rollout.full).toBe(false);
  expect(await rollout.flush()).toEqual(notSaved);
  expect((await outbox.open(request("b"))).outcome).toEqual(notSaved);
  expect(await rollout.close()).toEqual(notSaved);
});

test("stop releases the locks of a permanently failed writer", async () => {
  const writer = new LocalWriter();
  const outbox = start(nodeFileSystem, { writer });
  const { rollout } = await outbox.open(request("a"));
  await writer.fail("it failed for good");
  rollout.append(said("one"));
  expect(await rollout.close()).toEqual({ status: "not_saved", reason: "it failed for good" });
  expect(existsSync(join(directory, "a.jsonl.lock"))).toBe(true);
  await outbox.stop();
  expect(existsSync(join(directory, "a.jsonl.lock"))).toBe(false);
});

test("a lock file its owner could not remove counts as free after the owner closed", async () => {
  const other = await openOwnerSocket(directory);
  writeFileSync(join(directory, "a.jsonl.lock"), JSON.stringify(other.owner));
  const outbox = start();
  expect((await outbox.open(request("a"))).outcome).toMatchObject({ status: "in_use" });
  await other.close();
  expect((await outbox.open(request("a"))).outcome).toEqual({ status: "open", bytes: 0 });
});

test("a request that cannot be sent to another thread fails alone", async () => {
  const outbox = start();
  const unclonable = { ...request("a"), path: (() => "a function") as unknown as string };
  const [bad, good] = await Promise.allSettled([outbox.open(unclonable), outbox.open(request("b"))]);
  expect(bad).toMatchObject({ status: "rejected", reason: { name: "DataCloneError" } });
  expect(good).toMatchObject({ status: "fulfilled", value: { outcome: { status: "open" } } });
  expect((await outbox.open(request("a"))).outcome).toEqual({ status: "open", bytes: 0 });
});

test("lines appended together cross in one message", async () => {
  let sent = 0;
  const local = new LocalWriter();
  const writer: WriterSource = {
    stop: () => local.stop(),
    connect: ({ onPort, onFailed }) =>
      local.connect({
        onFailed,
        onPort: (port) => {
          const post = port.postMessage.bind(port);
          port.postMessage = (message, transfer) => {
            sent += 1;
            post(message, transfer as []);
          };
          onPort(port);
        },
      }),
  };
  const outbox = start(nodeFileSystem, { writer });
  const opened = await Promise.all(["a", "b", "c"].map((id) => outbox.open(request(id))));
  sent = 0;
  for (const { rollout } of opened) {
    rollout.append(said(1));
    rollout.append(said(2));
  }
  await Promise.all(opened.map(({ rollout }) => rollout.flush()));
  expect(sent).toBe(1);
});

test("stop saves waiting lines, and nothing can be opened afterwards", async () => {
  const outbox = start();
  const { rollout } = await outbox.open(request("a"));
  rollout.append(said("one"));
  await outbox.stop();
  expect(content("a")).toBe(encodeLine(said("one")));
  expect(await rollout.flush()).toEqual({ status: "not_saved", reason: "the conversation is closed" });
  expect((await outbox.open(request("b"))).outcome).toEqual({ status: "not_saved", reason: "the writer was stopped" });
});

test("the first open starts the writer", async () => {
  const writer = new LocalWriter();
  const outbox = start(nodeFileSystem, { writer });
  expect(writer.starts).toBe(0);
  await Promise.all(["a", "b"].map((id) => outbox.open(request(id))));
  expect(writer.starts).toBe(1);
});

test("a rollout that is not saved reports that saving is off", async () => {
  unsavedRollout.append(said("one"));
  expect(await unsavedRollout.flush()).toEqual({ status: "off" });
  expect(unsavedRollout.path).toBeNull();
});

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { failing, Faults, Gate, short, torn, type Call } from "./intercepted-file-system.js";
import { line, WriterHarness } from "./writer-harness.js";

let harness: WriterHarness;
beforeEach(() => {
  harness = new WriterHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const saved = { status: "saved" };

function notSaved(reason: string) {
  return { status: "not_saved", reason };
}

test("lines are in the file when flush resolves, and an event reports their number and the file size", async () => {
  const writer = await harness.start();
  expect(await writer.open("a")).toEqual({ status: "open", bytes: 0 });
  await writer.append("a", line("one"), line("€"));
  expect(await writer.flush("a")).toEqual(saved);
  expect(harness.content("a")).toBe(line("one") + line("€"));
  const bytes = Buffer.byteLength(line("one") + line("€"));
  expect(harness.events).toEqual([{ type: "saved", conversationId: "a", lines: 2, bytes }]);
  expect(await writer.flush("a")).toEqual(saved);
});

test("close releases the lock, and the conversation can be opened again", async () => {
  const writer = await harness.start();
  await writer.open("a");
  expect(existsSync(`${harness.path("a")}.lock`)).toBe(true);
  await writer.append("a", line("one"));
  expect(await writer.close("a")).toEqual(saved);
  expect(existsSync(`${harness.path("a")}.lock`)).toBe(false);
  expect(await writer.open("a", "append")).toEqual({ status: "open", bytes: line("one").length });
  await writer.append("a", line("two"));
  expect(await writer.flush("a")).toEqual(saved);
  expect(harness.content("a")).toBe(line("one") + line("two"));
});

test("lines appended during a sync are written together", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a");
  const gate = new Gate();
  faults.once("fdatasync", gate.hold);
  await writer.append("a", line(0));
  await gate.reached;
  for (let number = 1; number <= 50; number += 1) await writer.append("a", line(number));
  const flushed = writer.flush("a");
  gate.open();
  expect(await flushed).toEqual(saved);
  expect(faults.counts.get("fdatasync")).toBe(2);
  expect(harness.events.map((event) => event.type === "saved" && event.lines)).toEqual([1, 50]);
});

describe("lines without a waiting caller", () => {
  test("are written at once, and one flush syncs all of them", async () => {
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    await writer.open("a");
    await writer.write("a", line(1));
    await vi.waitFor(() => expect(harness.content("a")).toBe(line(1)));
    await writer.write("a", line(2));
    await vi.waitFor(() => expect(harness.content("a")).toBe(line(1) + line(2)));
    expect(faults.counts.get("fdatasync")).toBeUndefined();
    expect(await writer.flush("a")).toEqual(saved);
    expect(faults.counts.get("fdatasync")).toBe(1);
    expect(harness.events.map((event) => event.type === "saved" && event.lines)).toEqual([2]);
  });

  test("are synced a little later without a flush", async () => {
    const writer = await harness.start();
    await writer.open("a");
    await writer.write("a", line(1));
    await vi.waitFor(() => expect(harness.events.map(({ type }) => type)).toEqual(["saved"]), { timeout: 10_000 });
  });

  test("are in the file once even if the file was closed before the sync", async () => {
    const writer = await harness.start(undefined, 1);
    await Promise.all(["a", "b"].map((id) => writer.open(id)));
    for (let number = 1; number <= 3; number += 1) {
      for (const id of ["a", "b"]) {
        await writer.write(id, line(number));
        await vi.waitFor(() => expect(harness.content(id)).toContain(line(number)));
      }
    }
    for (const id of ["a", "b"]) {
      expect(await writer.flush(id)).toEqual(saved);
      expect(harness.content(id)).toBe(line(1) + line(2) + line(3));
    }
  });

  test("report a failed write, and the later success", async () => {
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    await writer.open("a");
    faults.once("write", torn(3));
    await writer.write("a", line(1));
    await vi.waitFor(() => expect(harness.events.map(({ type }) => type)).toEqual(["not_saved", "saved"]));
    expect(harness.content("a")).toBe(line(1));
  });
});

test("a stalled file does not block other files", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await Promise.all(["slow", "b", "c"].map((id) => writer.open(id)));
  const gate = new Gate();
  faults.once("fdatasync", gate.hold);
  await writer.append("slow", line(1));
  await gate.reached;
  await Promise.all(["b", "c"].map((id) => writer.append(id, line(1))));
  expect(await writer.flush("b")).toEqual(saved);
  expect(await writer.flush("c")).toEqual(saved);
  gate.open();
  expect(await writer.flush("slow")).toEqual(saved);
});

test("short writes are completed", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  faults.always("write", (_call, _next, [fd, bytes]) => short(fd, bytes, 3));
  await writer.open("a");
  await writer.append("a", line("one €"), line("two"));
  expect(await writer.flush("a")).toEqual(saved);
  expect(harness.content("a")).toBe(line("one €") + line("two"));
});

test("a write that fails halfway leaves only complete lines", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a");
  await writer.append("a", line("one"));
  expect(await writer.flush("a")).toEqual(saved);
  faults.always("write", torn(5));
  await writer.append("a", line("two"), line("three"));
  expect(await writer.flush("a")).toEqual({ status: "not_saved", reason: "disk full" });
  expect(harness.content("a")).toBe(line("one"));
});

describe("a fault is reported with its reason, and the lines are kept and saved when it is gone", () => {
  test.each([
    ["write", "ENOSPC", "disk full"],
    ["write", "EDQUOT", "disk quota exceeded"],
    ["write", "EIO", "input/output error"],
    ["write", "EROFS", "read-only file system"],
    ["write", "EXYZ", "EXYZ"],
    ["fdatasync", "EIO", "input/output error"],
    ["fdatasync", "ENOSPC", "disk full"],
    ["lstat", "EACCES", "permission denied"],
  ] as const)("%s: %s", async (call, code, reason) => {
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    await writer.open("a");
    await writer.append("a", line("one"));
    expect(await writer.flush("a")).toEqual(saved);
    faults.always(call, failing(code));
    await writer.append("a", line("two"), line("three"));
    expect(await writer.flush("a")).toEqual({ status: "not_saved", reason });
    expect(await writer.flush("a")).toEqual({ status: "not_saved", reason });
    expect(harness.events.slice(1)).toEqual([{ type: "not_saved", conversationId: "a", reason }]);
    faults.clear();
    await writer.append("a", line("four"));
    expect(await writer.flush("a")).toEqual(saved);
    expect(harness.content("a")).toBe(["one", "two", "three", "four"].map(line).join(""));
  });

  test("the lines are saved without another flush", async () => {
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    await writer.open("a");
    faults.once("fdatasync", failing("EIO"));
    const event = harness.next("saved");
    await writer.append("a", line("one"));
    expect(await event).toMatchObject({ type: "saved", lines: 1 });
    expect(harness.content("a")).toBe(line("one"));
  });

  test.each(["mkdir", "open", "fstat", "fchmod", "fsync"] as const)("opening: %s", async (call: Call) => {
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    faults.always(call, failing("EIO"));
    const path = join(harness.directory, "new", "deep", "a.jsonl");
    const reason = "input/output error";
    expect(await writer.open("a", "create", { path })).toEqual({ status: "not_saved", reason });
    await writer.append("a", line("one"));
    expect(await writer.flush("a")).toEqual({ status: "not_saved", reason });
    faults.clear();
    expect(await writer.flush("a")).toEqual(saved);
    expect(readFileSync(path, "utf8")).toBe(line("one"));
    const size = line("one").length;
    expect(harness.events.slice(1)).toEqual([
      { type: "saved", conversationId: "a", lines: 0, bytes: 0 },
      { type: "saved", conversationId: "a", lines: 1, bytes: size },
    ]);
  });
});

test("a write torn at any byte is truncated before the line is written again", async () => {
  const [first, second] = [line("one"), line("two €")];
  for (let length = 0; length <= Buffer.byteLength(second + second); length += 1) {
    const id = `torn-${length}`;
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    await writer.open(id);
    await writer.append(id, first);
    expect(await writer.flush(id)).toEqual(saved);
    faults.once("write", torn(length));
    await writer.append(id, second, second);
    expect(await writer.flush(id)).toEqual({ status: "not_saved", reason: "disk full" });
    expect(await writer.flush(id)).toEqual(saved);
    expect(harness.content(id)).toBe(first + second + second);
  }
});

test("after a failed sync the lines are written again through a new descriptor", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a");
  await writer.append("a", line("one"));
  expect(await writer.flush("a")).toEqual(saved);
  const synced: unknown[] = [];
  faults.always("fdatasync", async (_call, next, [fd]) => {
    synced.push(fd);
    if (synced.length === 1) return failing("EIO")("fdatasync", next, []);
    return next();
  });
  const opens = faults.counts.get("open") ?? 0;
  const writes = faults.counts.get("write") ?? 0;
  await writer.append("a", line("two"));
  expect(await writer.flush("a")).toMatchObject({ status: "not_saved" });
  expect(await writer.flush("a")).toEqual(saved);
  expect(faults.counts.get("open")).toBe(opens + 1);
  expect(faults.counts.get("write")).toBe(writes + 2);
  expect(harness.content("a")).toBe(line("one") + line("two"));
});

test("a restarted writer continues after a crash, whatever part of the lines was written", async () => {
  const acknowledged = line("one");
  const lines = [line("two €"), line("three"), line("four")];
  const all = Buffer.from(lines.join(""));
  for (let length = 0; length <= all.length; length += 1) {
    const id = `crash-${length}`;
    writeFileSync(harness.path(id), Buffer.concat([Buffer.from(acknowledged), all.subarray(0, length)]));
    const writer = await harness.start();
    const bytes = acknowledged.length;
    expect(await writer.open(id, "append", { acknowledgedBytes: bytes })).toEqual({ status: "open", bytes });
    await writer.append(id, ...lines);
    expect(await writer.flush(id)).toEqual(saved);
    expect(harness.content(id)).toBe(acknowledged + lines.join(""));
    expect(harness.events.at(-1)).toMatchObject({ lines: 3, bytes: bytes + all.length });
    expect(await writer.close(id)).toEqual(saved);
  }
});

test("lines a crashed writer wrote but never acknowledged are written again, because their sync may have failed", async () => {
  const [first, second] = [line("one"), line("two")];
  writeFileSync(harness.path("a"), first + second);
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a", "append", { acknowledgedBytes: first.length });
  const written: string[] = [];
  faults.always("write", (_call, next, [, bytes]) => {
    written.push(Buffer.from(bytes as Uint8Array).toString());
    return next();
  });
  await writer.append("a", second);
  expect(await writer.flush("a")).toEqual(saved);
  expect(written).toEqual([second]);
  expect(harness.content("a")).toBe(first + second);
});

test("a conversation reopened in the same writer continues without duplicate lines", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a");
  const gate = new Gate();
  faults.once("fdatasync", gate.hold);
  await writer.append("a", line("one"));
  await gate.reached;
  const opened = writer.open("a", "create", { acknowledgedBytes: 0 });
  await writer.append("a", line("one"), line("two"));
  gate.open();
  expect(await opened).toEqual({ status: "open", bytes: 0 });
  expect(await writer.flush("a")).toEqual(saved);
  expect(harness.content("a")).toBe(line("one") + line("two"));
});

test("a last line torn at any byte is copied to a file beside the rollout and cut off", async () => {
  const first = line("one");
  const whole = Buffer.from(first + line("two €"));
  for (let length = first.length + 1; length < whole.length - 1; length += 1) {
    const id = `tail-${length}`;
    writeFileSync(harness.path(id), whole.subarray(0, length));
    const writer = await harness.start();
    const keptTail = { bytes: length - first.length, keptAs: `${id}.jsonl.torn-1` };
    expect(await writer.open(id, "append")).toEqual({ status: "open", bytes: first.length, torn: keptTail });
    await writer.append(id, line("three"));
    expect(await writer.flush(id)).toEqual(saved);
    expect(harness.content(id)).toBe(first + line("three"));
    expect(readFileSync(`${harness.path(id)}.torn-1`)).toEqual(whole.subarray(first.length, length));
  }
});

test("a complete last line without a newline gets one", async () => {
  const lines = line("one") + line("two");
  for (const [id, length] of [
    ["whole", lines.length],
    ["unterminated", lines.length - 1],
  ] as const) {
    writeFileSync(harness.path(id), lines.slice(0, length));
    const writer = await harness.start();
    expect(await writer.open(id, "append")).toEqual({ status: "open", bytes: lines.length });
    await writer.append(id, line("three"));
    expect(await writer.flush(id)).toEqual(saved);
    expect(harness.content(id)).toBe(lines + line("three"));
  }
});

test("torn lines of several crashes are all kept", async () => {
  const writer = await harness.start();
  for (const number of [1, 2, 3]) {
    appendFileSync(harness.path("a"), `torn ${number}`);
    expect(await writer.open("a", "append")).toMatchObject({ torn: { keptAs: `a.jsonl.torn-${number}` } });
    await writer.close("a");
  }
  expect(readFileSync(`${harness.path("a")}.torn-3`, "utf8")).toBe("torn 3");
});

test("a tail of NUL bytes counts as torn, however long it is", async () => {
  writeFileSync(harness.path("a"), line("one"));
  truncateSync(harness.path("a"), 300_000);
  const writer = await harness.start();
  const bytes = line("one").length;
  const keptTail = { bytes: 300_000 - bytes, keptAs: "a.jsonl.torn-1" };
  expect(await writer.open("a", "append")).toEqual({ status: "open", bytes, torn: keptTail });
  expect(harness.content("a")).toBe(line("one"));
});

test("a torn tail that cannot be copied is not cut off", async () => {
  const faults = new Faults();
  writeFileSync(harness.path("a"), `${line("one")}torn`);
  const writer = await harness.start(faults.fileSystem);
  faults.always("write", failing("ENOSPC"));
  expect(await writer.open("a", "append")).toEqual({ status: "not_saved", reason: "disk full" });
  expect(harness.content("a")).toBe(`${line("one")}torn`);
  faults.clear();
  expect(await writer.flush("a")).toEqual(saved);
  expect(harness.content("a")).toBe(line("one"));
});

describe("a change by another program is detected before lines count as saved", () => {
  const cases: [name: string, act: (path: string) => void, reason: string][] = [
    ["removed", (path) => rmSync(path), "the file or its directory does not exist"],
    ["renamed", (path) => renameSync(path, `${path}.old`), "the file or its directory does not exist"],
    ["truncated", (path) => truncateSync(path, 3), "the file was changed by another program"],
    ["appended to", (path) => appendFileSync(path, line("foreign")), "the file was changed by another program"],
    [
      "replaced",
      (path) => {
        rmSync(path);
        writeFileSync(path, line("other"));
      },
      "the file was replaced by another program",
    ],
  ];
  test.each(cases)("%s", async (_name, act, reason) => {
    const writer = await harness.start();
    await writer.open("a");
    await writer.append("a", line("one"));
    expect(await writer.flush("a")).toEqual(saved);
    act(harness.path("a"));
    await writer.append("a", line("two"));
    expect(await writer.flush("a")).toEqual({ status: "not_saved", reason });
    expect(await writer.flush("a")).toMatchObject({ status: "not_saved" });
  });

  test("lines of another program are never cut off", async () => {
    const writer = await harness.start();
    await writer.open("a");
    await writer.append("a", line("one"));
    await writer.flush("a");
    appendFileSync(harness.path("a"), line("foreign"));
    await writer.append("a", line("two"));
    await writer.flush("a");
    await writer.flush("a");
    expect(harness.content("a")).toContain(line("foreign"));
  });
});

test("create refuses an existing file, append a missing one, and both anything but a regular file", async () => {
  const writer = await harness.start();
  writeFileSync(harness.path("there"), line("one"));
  symlinkSync(harness.path("there"), harness.path("link"));
  mkdirSync(harness.path("directory"));
  expect(await writer.open("there", "create")).toEqual(notSaved("a conversation with this id already exists"));
  expect(await writer.open("none", "append")).toEqual(notSaved("the file or its directory does not exist"));
  expect(await writer.open("link", "append")).toEqual(notSaved("not a regular file"));
  expect(await writer.open("directory", "append")).toEqual(notSaved("not a regular file"));
  const path = join(harness.path("there"), "a.jsonl");
  expect(await writer.open("in-file", "create", { path })).toEqual(
    notSaved("part of its path is a file, not a directory"),
  );
  expect(readdirSync(harness.directory).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(harness.content("there")).toBe(line("one"));
});

test("a conversation that could not be opened is opened once it is possible", async () => {
  const writer = await harness.start();
  const parent = join(harness.directory, "parent");
  writeFileSync(parent, "a file");
  const path = join(parent, "a.jsonl");
  expect(await writer.open("a", "create", { path })).toMatchObject({ status: "not_saved" });
  await writer.append("a", line("one"));
  expect(await writer.flush("a")).toMatchObject({ status: "not_saved" });
  rmSync(parent);
  expect(await writer.flush("a")).toEqual(saved);
  expect(readFileSync(path, "utf8")).toBe(line("one"));
});

test("a conversation locked by another owner is in use, and force takes it over", async () => {
  const writer = await harness.start();
  await using other = new WriterHarness();
  const stranger = await other.start();
  const path = harness.path("a");
  expect(await stranger.open("a", "create", { path })).toMatchObject({ status: "open" });
  const owner = `this process (pid ${process.pid})`;
  expect(await writer.open("a", "append")).toEqual({ status: "in_use", owner });
  await writer.append("a", line("ignored"));
  expect(await writer.flush("a")).toEqual({ status: "not_saved", reason: "the conversation is not open" });
  expect(await writer.open("a", "append", { force: true })).toMatchObject({ status: "open" });
});

test("with more conversations than the limit of open files, every line is saved and few files are open", async () => {
  let open = 0;
  let most = 0;
  const faults = new Faults();
  faults.always("open", async (_call, next) => {
    const fd = await next();
    open += 1;
    most = Math.max(most, open);
    return fd;
  });
  faults.always("close", async (_call, next) => {
    open -= 1;
    return next();
  });
  const writer = await harness.start(faults.fileSystem, 20);
  const ids = Array.from({ length: 60 }, (_, index) => `c${index}`);
  await Promise.all(ids.map((id) => writer.open(id)));
  for (const number of [1, 2]) {
    await Promise.all(ids.map((id) => writer.append(id, line(number))));
    expect(await Promise.all(ids.map((id) => writer.flush(id)))).toEqual(ids.map(() => saved));
  }
  expect(most).toBeLessThan(30);
  expect(ids.map((id) => harness.content(id))).toEqual(ids.map(() => line(1) + line(2)));
});

test("when descriptors run out, idle files are closed and the lines are saved", async () => {
  const faults = new Faults();
  const writer = await harness.start(faults.fileSystem);
  await writer.open("a");
  const closes = faults.counts.get("close") ?? 0;
  faults.once("open", failing("EMFILE"));
  const path = join(harness.directory, "b.jsonl");
  expect(await writer.open("b", "create", { path })).toEqual({ status: "open", bytes: 0 });
  expect(faults.counts.get("close")).toBeGreaterThan(closes);
});

test("files and directories are private to their user", async () => {
  const writer = await harness.start();
  const path = join(harness.directory, "one", "two", "a.jsonl");
  await writer.open("a", "create", { path });
  const modes = ["one", "one/two", "one/two/a.jsonl", "one/two/a.jsonl.lock"].map(
    (name) => statSync(join(harness.directory, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
});

test("a conversation that is not open reports so on flush and closes without an error", async () => {
  const writer = await harness.start();
  await writer.append("none", line(1));
  expect(await writer.flush("none")).toEqual({ status: "not_saved", reason: "the conversation is not open" });
  expect(await writer.close("none")).toEqual(saved);
});

describe("several clients", () => {
  test("the end of one saves its lines and releases its lock, and another one waits for that", async () => {
    const faults = new Faults();
    const one = await harness.start(faults.fileSystem);
    const two = one.connectAnother();
    await one.open("a");
    const gate = new Gate();
    faults.once("fdatasync", gate.hold);
    await one.append("a", line("one"));
    await gate.reached;
    await one.write("a", line("two"));
    const ended = one.end();
    const opened = two.open("a", "append");
    gate.open();
    await ended;
    expect(await opened).toEqual({ status: "open", bytes: (line("one") + line("two")).length });
    expect(harness.content("a")).toBe(line("one") + line("two"));
    expect(existsSync(`${harness.path("a")}.lock`)).toBe(true);
  });

  test("one that ends just after another has asked for its conversation hands it over", async () => {
    const one = await harness.start();
    const two = one.connectAnother();
    await one.open("a");
    await one.append("a", line("one"));
    const opened = two.open("a", "append");
    await one.end();
    expect(await opened).toEqual({ status: "open", bytes: line("one").length });
  });

  test("one cannot write, flush or close the conversation of another", async () => {
    const one = await harness.start();
    const two = one.connectAnother();
    await one.open("a");
    expect(await two.open("a", "append")).toEqual({ status: "in_use", owner: `this process (pid ${process.pid})` });
    await two.append("a", line("not mine"));
    expect(await two.flush("a")).toEqual(notSaved("the conversation is not open"));
    await two.close("a");
    await one.append("a", line("one"));
    expect(await one.close("a")).toEqual(saved);
    expect(harness.content("a")).toBe(line("one"));
  });

  test("many conversations that change hands at once do not block each other", async () => {
    const one = await harness.start();
    const two = one.connectAnother();
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
    await Promise.all(ids.map((id) => one.open(id)));
    for (const id of ids) await one.write(id, line(id));
    const closed = Promise.all(ids.map((id) => one.close(id)));
    const opened = await Promise.all(ids.map((id) => two.open(id, "append")));
    expect(opened).toEqual(ids.map((id) => ({ status: "open", bytes: line(id).length })));
    expect(await closed).toEqual(ids.map(() => saved));
  });
});

import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failing, Faults, torn, type Call } from "./intercepted-file-system.js";
import { line, WriterHarness } from "./writer-harness.js";

let harness: WriterHarness;
beforeEach(() => {
  harness = new WriterHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const tail = `{"torn":"€${"x".repeat(100)}`;

function keptBeside(id: string): Record<string, string> {
  const names = readdirSync(harness.directory).filter((name) => name.startsWith(`${id}.jsonl.torn-`));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(harness.directory, name), "utf8")]));
}

test.each(["fchmod", "write", "fsync", "ftruncate"] as const)(
  "a torn line is kept once and completely if %s failed",
  async (call: Call) => {
    writeFileSync(harness.path("a"), line("one") + tail);
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    faults.once(call, call === "write" ? torn(40) : failing("EIO"));
    expect(await writer.open("a", "append")).toMatchObject({ status: "not_saved" });
    expect(await writer.flush("a")).toEqual({ status: "saved" });
    expect(keptBeside("a")).toEqual({ "a.jsonl.torn-1": tail });
    expect(harness.content("a")).toBe(line("one"));
  },
);

test("a torn line is kept once and completely if the process died while keeping it", async () => {
  for (const length of [0, 40, Buffer.byteLength(tail)]) {
    const id = `dead-${length}`;
    writeFileSync(harness.path(id), line("one") + tail);
    writeFileSync(`${harness.path(id)}.torn-1`, Buffer.from(tail).subarray(0, length));
    const faults = new Faults();
    const writer = await harness.start(faults.fileSystem);
    expect(await writer.open(id, "append")).toMatchObject({ torn: { keptAs: `${id}.jsonl.torn-1` } });
    // Even a complete copy is written again, because its sync may have failed.
    expect(faults.counts.get("write")).toBe(1);
    expect(keptBeside(id)).toEqual({ [`${id}.jsonl.torn-1`]: tail });
  }
});

test("other files under the name of a kept tail are left unchanged", async () => {
  const path = harness.path("a");
  writeFileSync(path, line("one") + tail);
  writeFileSync(harness.path("other"), "");
  symlinkSync(harness.path("other"), `${path}.torn-1`);
  mkdirSync(`${path}.torn-2`);
  const [longer, different] = [`${tail} and more`, tail.replaceAll("x", "y")];
  writeFileSync(`${path}.torn-3`, longer);
  writeFileSync(`${path}.torn-4`, different);
  const writer = await harness.start();
  expect(await writer.open("a", "append")).toMatchObject({ torn: { keptAs: "a.jsonl.torn-5" } });
  const kept = [3, 4, 5].map((number) => readFileSync(`${path}.torn-${number}`, "utf8"));
  expect(kept).toEqual([longer, different, tail]);
  expect(harness.content("other")).toBe("");
});

import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BlobStore } from "../../../src/actors/rollout-writer/blob-store.js";
import { blobHash } from "../../../src/rollouts/file/blobs.js";
import { nodeRepairFiles } from "../../../src/rollouts/file/replacement.js";
import { redactorOf } from "../../support/redaction.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const secret = "wh0le-output-secret";
const redactor = redactorOf({ secrets: [secret], shapes: true });

async function open(maxBytes = 1_000_000, files = nodeRepairFiles) {
  const rolloutPath = join(await temporaryFolder(), "conv_1.jsonl");
  return { store: new BlobStore({ files, rolloutPath, redactor, maxBytes }), folder: `${rolloutPath}.blobs` };
}

test("a text is stored once by its content, private to its user and without secrets", async () => {
  const { store, folder } = await open();
  const kept = `before ${"x".repeat(100)} [redacted]\n`;
  const outcome = { status: "kept", sha256: blobHash(Buffer.from(kept)), bytes: Buffer.byteLength(kept) };
  const text = kept.replace("[redacted]", secret);
  expect(await Promise.all([store.keep(text), store.keep(text)])).toEqual([outcome, outcome]);
  expect(await readdir(folder)).toEqual([outcome.sha256]);
  expect(await readFile(join(folder, outcome.sha256), "utf8")).toBe(kept);
  const modes = await Promise.all([folder, join(folder, outcome.sha256)].map(async (path) => (await stat(path)).mode));
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600]);
});

function filler(lines: number): string {
  return "a line of text\n".repeat(lines);
}

test("a long text is fully redacted, wherever it is split into chunks", async () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq\n".repeat(500)}-----END PRIVATE KEY-----\n`;
  const text = `${filler(8_730)}${key}${filler(9_000)}${secret}\n${filler(8_500)}${key}`;
  const { store, folder } = await open(100_000_000);
  const outcome = await store.keep(text);
  expect(outcome).toMatchObject({ status: "kept" });
  const [name = ""] = await readdir(folder);
  const kept = await readFile(join(folder, name), "utf8");
  expect(kept === `${filler(8_730)}[redacted]\n${filler(9_000)}[redacted]\n${filler(8_500)}[redacted]\n`).toBe(true);
});

test("texts over the bound are not stored, including those stored by an earlier run", async () => {
  const { store, folder } = await open(1_000);
  await mkdir(folder);
  await writeFile(join(folder, "a".repeat(64)), "x".repeat(600));
  expect(await store.keep("y".repeat(300))).toMatchObject({ status: "kept" });
  expect(await store.keep("z".repeat(300))).toEqual({
    status: "not_kept",
    reason: "the stored outputs would be larger than 0.001 MB (persistence.maxBlobMegabytes)",
  });
  expect(await store.keep("y".repeat(300))).toMatchObject({ status: "kept" });
});

test.each(["open", "write", "fsync", "rename", "mkdir"] as const)(
  "a failing %s is reported and leaves no partial file",
  async (call) => {
    const broken = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOSPC", syscall: call }));
    const { store, folder } = await open(1_000, { ...nodeRepairFiles, [call]: broken });
    expect(await store.keep("text")).toEqual({ status: "not_kept", reason: "disk full" });
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  },
);

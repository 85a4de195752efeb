import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ProjectKnowledge, startKnowledge } from "../../../src/actors/knowledge/knowledge.js";
import { Deferred } from "../../../src/base/time/waiting.js";
import { withFileLock } from "../../../src/config/file-lock.js";
import { copyingRef } from "../../support/copying-ref.js";
import { redactorOf } from "../../support/redaction.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function open(now = () => new Date("2026-11-17T12:00:00.000Z")): ProjectKnowledge {
  return openThreads(now).knowledge;
}

/** The knowledge as this thread sees it and as another one does. */
function openThreads(now = () => new Date("2026-11-17T12:00:00.000Z")) {
  const ref = startKnowledge({ redactor: redactorOf({}), now });
  onTestFinished(() => ref.stop());
  const knowledge = new ProjectKnowledge(ref, { budgetTokens: 8_192 });
  return { ref, knowledge, elsewhere: new ProjectKnowledge(copyingRef(ref), { budgetTokens: 8_192 }) };
}

function said(content: string) {
  return { type: "pattern", content, confidence: 0.8 } as const;
}

test("a thousand concurrent saves each write one line and resolve afterwards", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  const outcomes = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => knowledge.add(root, said(`fact ${index}`), `conv_${index}`)),
  );
  const ids = outcomes.map((outcome) => (outcome.status === "saved" ? outcome.entry.id : outcome.reason));
  expect(new Set(ids).size).toBe(1_000);
  const lines = (await readFile(join(root, ".cody/knowledge/knowledge.jsonl"), "utf8")).trimEnd().split("\n");
  expect(new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id))).toEqual(new Set(ids));
  expect(lines).toHaveLength(1_000);
  const { section } = await knowledge.section(root);
  expect(section).toContain("- [pattern] fact 999\n");
});

test("an entry saved from a subfolder belongs to the project", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, ".git"));
  await mkdir(join(root, "src/deep"), { recursive: true });
  const knowledge = open();
  expect(await knowledge.add(join(root, "src/deep"), said("deep"), "conv_1")).toMatchObject({ status: "saved" });
  expect((await knowledge.section(root)).section).toContain("deep");
});

test("the prompt section is rebuilt only when the file has changed", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  expect((await knowledge.section(root)).section).toBe("");
  await open().add(root, said("by another"), "conv_1");
  const first = await knowledge.section(root);
  expect(first.section).toContain("by another");
  expect(await knowledge.section(root)).toBe(first);
});

test("a failed save is reported, and a later save can succeed", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  await writeFile(join(root, ".cody"), "a file in the way");
  expect(await knowledge.add(root, said("a"), "conv_1")).toEqual({
    status: "not_saved",
    reason: "a part of the path is not a folder",
  });
  const gone = join(root, "gone");
  expect(await knowledge.add(gone, said("a"), "conv_1")).toEqual({ status: "not_saved", reason: "it does not exist" });
  await chmod(root, 0o700);
  expect(await knowledge.add(await temporaryFolder(), said("a"), "conv_1")).toMatchObject({ status: "saved" });
});

/** A project whose knowledge file is locked until release is called. */
async function lockedProject() {
  const root = await temporaryFolder();
  const folder = join(root, ".cody/knowledge");
  await mkdir(folder, { recursive: true });
  const free = new Deferred<void>();
  const release = () => free.resolve();
  const held = withFileLock(join(folder, "knowledge.jsonl.lock"), () => free.promise);
  onTestFinished(async () => {
    release();
    await held;
  });
  /** Waits until the folder has three files: the lock, its holder's file and that of a waiting process. */
  const untilSaveWaits = () => vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(3), 10_000);
  return { root, release, untilSaveWaits };
}

async function openManyOthers(knowledge: ProjectKnowledge): Promise<void> {
  const others = await temporaryFolder();
  await Promise.all(Array.from({ length: 100 }, (_, index) => knowledge.section(join(others, String(index)))));
}

test("stop waits for a running save in a project that was evicted from the cache", async () => {
  const { root, release, untilSaveWaits } = await lockedProject();
  const { ref, knowledge } = openThreads();
  const adding = knowledge.add(root, said("late"), "conv_1");
  await untilSaveWaits();
  await openManyOthers(knowledge);
  const closing = ref.stop();
  release();
  await closing;
  expect(await readFile(join(root, ".cody/knowledge/knowledge.jsonl"), "utf8")).toContain("late");
  await adding;
});

test("a project that is saving keeps one store, however many other projects are opened", async () => {
  const { root, release, untilSaveWaits } = await lockedProject();
  const knowledge = open();
  const first = knowledge.add(root, said("the same"), "conv_1");
  await untilSaveWaits();
  await openManyOthers(knowledge);
  const second = knowledge.add(root, said("the same"), "conv_2");
  await knowledge.section(root);
  release();
  const [one, other] = await Promise.all([first, second]);
  // A second store would not know the first entry and would not replace it.
  const id = one.status === "saved" ? one.entry.id : one.reason;
  expect(other).toMatchObject({ status: "saved", entry: { supersedes: id } });
});

test("an evicted project is loaded again", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  await knowledge.add(root, said("kept"), "conv_1");
  await openManyOthers(knowledge);
  expect((await knowledge.section(root)).section).toContain("kept");
});

test("conversations in several threads read and add to the same projects", async () => {
  const [one, other] = [await temporaryFolder(), await temporaryFolder()];
  const { knowledge, elsewhere } = openThreads();
  await Promise.all([knowledge.add(one, said("here"), "conv_1"), elsewhere.add(one, said("there"), "conv_2")]);
  const outcome = await elsewhere.add(one, said("here"), "conv_2");
  expect(outcome).toMatchObject({ status: "saved", entry: { supersedes: expect.any(String), sessionId: "conv_2" } });
  const section = await knowledge.section(one);
  expect(section.section).toContain("there");
  expect(await elsewhere.section(one)).toEqual(section);
  expect((await elsewhere.section(other)).section).toBe("");
});

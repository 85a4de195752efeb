import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ProjectKnowledge } from "../../../src/actors/knowledge/knowledge.js";
import { Deferred } from "../../../src/base/time/waiting.js";
import { withFileLock } from "../../../src/config/file-lock.js";
import { redactorOf } from "../../support/redaction.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

function open(now = () => new Date("2026-11-17T12:00:00.000Z")): ProjectKnowledge {
  const knowledge = new ProjectKnowledge({ redactor: redactorOf({}), now, budgetTokens: 8_192 });
  onTestFinished(() => knowledge.close());
  return knowledge;
}

function said(content: string) {
  return { type: "pattern", content, confidence: 0.8 } as const;
}

test("a thousand that save at once all have their line, and each is told afterwards", async () => {
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

test("what a folder below a project saves is the project's", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, ".git"));
  await mkdir(join(root, "src/deep"), { recursive: true });
  const knowledge = open();
  expect(await knowledge.add(join(root, "src/deep"), said("deep"), "conv_1")).toMatchObject({ status: "saved" });
  expect((await knowledge.section(root)).section).toContain("deep");
});

test("the section is made anew when the file has changed, and only then", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  expect((await knowledge.section(root)).section).toBe("");
  await open().add(root, said("by another"), "conv_1");
  const first = await knowledge.section(root);
  expect(first.section).toContain("by another");
  expect(await knowledge.section(root)).toBe(first);
});

test("what cannot be saved is said, and the next one may be", async () => {
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

/** A project whose knowledge cannot be written until it is let go of. */
async function heldProject() {
  const root = await temporaryFolder();
  const folder = join(root, ".cody/knowledge");
  await mkdir(folder, { recursive: true });
  const free = new Deferred<void>();
  const letGo = () => free.resolve();
  const held = withFileLock(join(folder, "knowledge.jsonl.lock"), () => free.promise);
  onTestFinished(async () => {
    letGo();
    await held;
  });
  /** The lock, the file of its holder, and that of who waits for it. */
  const someoneWaits = () => vi.waitFor(async () => expect(await readdir(folder)).toHaveLength(3), 10_000);
  return { root, letGo, someoneWaits };
}

async function askForManyOthers(knowledge: ProjectKnowledge): Promise<void> {
  const others = await temporaryFolder();
  await Promise.all(Array.from({ length: 100 }, (_, index) => knowledge.section(join(others, String(index)))));
}

test("closing waits for what is being saved in a project that was asked for long ago", async () => {
  const { root, letGo, someoneWaits } = await heldProject();
  const knowledge = open();
  const adding = knowledge.add(root, said("late"), "conv_1");
  await someoneWaits();
  await askForManyOthers(knowledge);
  const closing = knowledge.close();
  letGo();
  await closing;
  expect(await readFile(join(root, ".cody/knowledge/knowledge.jsonl"), "utf8")).toContain("late");
  await adding;
});

test("a project has one owner, however many others are asked for while it saves", async () => {
  const { root, letGo, someoneWaits } = await heldProject();
  const knowledge = open();
  const first = knowledge.add(root, said("the same"), "conv_1");
  await someoneWaits();
  await askForManyOthers(knowledge);
  const second = knowledge.add(root, said("the same"), "conv_2");
  await knowledge.section(root);
  letGo();
  const [one, other] = await Promise.all([first, second]);
  // Who did not know of the first would not replace it.
  const id = one.status === "saved" ? one.entry.id : one.reason;
  expect(other).toMatchObject({ status: "saved", entry: { supersedes: id } });
});

test("a project that was let go of is known again", async () => {
  const root = await temporaryFolder();
  const knowledge = open();
  await knowledge.add(root, said("kept"), "conv_1");
  await askForManyOthers(knowledge);
  expect((await knowledge.section(root)).section).toContain("kept");
});

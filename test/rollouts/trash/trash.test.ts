import { constants } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openOwnerSocket } from "../../../src/actors/rollout-writer/rollout-locks.js";
import type { LockOwner } from "../../../src/messages/actors/rollout-writer.js";
import { conversationFiles } from "../../../src/rollouts/list/conversation-files.js";
import { acquireLock } from "../../../src/rollouts/file/lock.js";
import { moveToTrash } from "../../../src/rollouts/trash/move-to-trash.js";
import { removeForGood, finishInterrupted } from "../../../src/rollouts/trash/finish-interrupted.js";
import { restore } from "../../../src/rollouts/trash/restore.js";
import { trashed, nodeTrashFiles, type TrashFiles } from "../../../src/rollouts/trash/trash-files.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { conversationId as id, everything, putConversation } from "./conversation-on-disk.js";

const now = new Date("2026-11-16T00:00:00Z");
const day = 24 * 60 * 60 * 1000;

async function newOwner(): Promise<LockOwner> {
  const socket = await openOwnerSocket(await temporaryFolder());
  onTestFinished(() => socket.close());
  return socket.owner;
}

async function newStore() {
  const home = await temporaryFolder();
  const [directory, trash] = [join(home, "conversations"), join(home, "trash")];
  const path = await putConversation(directory);
  const owner = await newOwner();
  const request = { id, path, directory, trash, now, graceMs: 30 * day, why: "asked", owner } as const;
  return { home, directory, trash, path, owner, request };
}

/** A file system on which the trash is on another device. */
const acrossDisks: TrashFiles = {
  ...nodeTrashFiles,
  link: (from, to) =>
    from.endsWith(".partial")
      ? nodeTrashFiles.link(from, to)
      : Promise.reject(Object.assign(new Error("EXDEV"), { code: "EXDEV" })),
};

test.each([
  ["on one disk", nodeTrashFiles],
  ["from one disk to another", acrossDisks],
])("all files of a conversation are moved to the trash and restored byte for byte, %s", async (_, files) => {
  const { home, directory, trash, path, owner, request } = await newStore();
  await writeFile(`${path}x`, "somebody else's");
  const before = await everything(home);
  const moved = await moveToTrash(files, request);
  expect(await readdir(directory)).toEqual([`${id}.jsonlx`]);
  expect(moved).toMatchObject({ id, path, why: "asked", until: "2026-12-16T00:00:00.000Z" });
  expect(moved.bytes).toBe(moved.files.reduce((sum, { bytes }) => sum + bytes, 0));
  expect(await trashed(files, trash)).toEqual([moved]);
  for (const folder of [trash, moved.folder]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await restore(files, moved, owner);
  expect(await everything(home)).toEqual(before);
  expect(await readdir(trash)).toEqual([]);
});

test("a conversation that this or another process is writing is not moved", async () => {
  const { home, path, request } = await newStore();
  const before = await everything(home);
  await acquireLock(path, await newOwner(), { force: false });
  await expect(moveToTrash(nodeTrashFiles, request)).rejects.toMatchObject({ code: "CONVERSATION_IN_USE" });
  expect(await everything(home)).toEqual(before);
});

test("nothing is moved through a symlink or from outside the directory", async () => {
  const { home, directory, trash, path, request } = await newStore();
  const elsewhere = await temporaryFolder();
  const foreign = await putConversation(elsewhere, "foreign");
  await symlink(foreign, join(directory, "linked.jsonl"));
  await symlink(elsewhere, join(directory, "folder"));
  await symlink(foreign, `${path}.torn-2`);
  const linked = { ...request, id: "linked", path: join(directory, "linked.jsonl") };
  await expect(moveToTrash(nodeTrashFiles, linked)).rejects.toThrow("linked.jsonl is not a regular file");
  const inFolder = { ...request, id: "foreign", path: join(directory, "folder", "foreign.jsonl") };
  await expect(moveToTrash(nodeTrashFiles, inFolder)).rejects.toThrow("not in the conversations directory");
  await expect(moveToTrash(nodeTrashFiles, { ...inFolder, path: foreign })).rejects.toThrow(
    "not in the conversations directory",
  );
  await expect(moveToTrash(nodeTrashFiles, request)).rejects.toThrow(`${id}.jsonl.torn-2 is not a regular file`);
  expect(await stat(foreign)).toBeDefined();
  expect(await readdir(trash).catch(() => [])).toEqual([]);
  expect(await readdir(home)).not.toContain("foreign.jsonl");
});

test("if one file cannot be moved, all of them stay", async () => {
  const { home, trash, request } = await newStore();
  const before = await everything(home);
  const failing: TrashFiles = {
    ...nodeTrashFiles,
    link: (from, to) =>
      from.includes(".blobs") && to.includes("/trash/")
        ? Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }))
        : nodeTrashFiles.link(from, to),
  };
  await expect(moveToTrash(failing, request)).rejects.toMatchObject({ code: "EACCES" });
  expect(await everything(home)).toEqual(before);
  expect(await readdir(trash)).toEqual([]);
});

test("a restore never overwrites a file", async () => {
  const { home, path, owner, request } = await newStore();
  const moved = await moveToTrash(nodeTrashFiles, request);
  await writeFile(`${path}.torn-1`, "new");
  const before = await everything(home);
  await expect(restore(nodeTrashFiles, moved, owner)).rejects.toThrow(`another file exists at ${path}.torn-1`);
  expect(await everything(home)).toEqual(before);
  await rm(`${path}.torn-1`);
  await restore(nodeTrashFiles, moved, owner);
  await expect(restore(nodeTrashFiles, moved, owner)).rejects.toThrow("no longer in the trash");
});

test("permanently deleted files are overwritten first, unless they have another hard link", async () => {
  const { home, trash, owner, request } = await newStore();
  const moved = await moveToTrash(nodeTrashFiles, request);
  const [rollout, torn] = [join(moved.folder, `${id}.jsonl`), join(moved.folder, `${id}.jsonl.torn-1`)];
  const kept = join(home, "kept");
  await nodeTrashFiles.link(torn, kept);
  const blanked: string[] = [];
  const seen: TrashFiles = {
    ...nodeTrashFiles,
    blank: async (path) => {
      await copyFile(path, join(home, "before"), constants.COPYFILE_FICLONE);
      await nodeTrashFiles.blank(path);
      expect((await stat(path)).size).toBe(0);
      blanked.push(path);
    },
  };
  const bytes = moved.bytes - (await stat(kept)).size;
  expect(await removeForGood(seen, moved, owner)).toEqual({ bytes, hardLinked: [`${id}.jsonl.torn-1`] });
  expect(blanked).toContain(rollout);
  expect(blanked).not.toContain(torn);
  expect(await readFile(kept, "utf8")).toBe('{"half');
  expect(await readdir(trash)).toEqual([]);
});

test("partial entries left by a crash are removed, and other folders are not", async () => {
  const { trash, owner } = await newStore();
  for (const name of ["empty", "begun", "ended", "by-hand"]) await mkdir(join(trash, name), { recursive: true });
  await writeFile(join(trash, "begun", "entry.json"), '{"versi');
  await writeFile(join(trash, "ended", "removing"), "");
  await writeFile(join(trash, "by-hand", "notes.txt"), "mine");
  await finishInterrupted(nodeTrashFiles, trash, owner);
  expect(await readdir(trash)).toEqual(["by-hand"]);
});

test("a trash folder without a valid description is left alone", async () => {
  const { trash } = await newStore();
  await mkdir(join(trash, "by-hand"), { recursive: true });
  await mkdir(join(trash, "wrong"));
  await writeFile(join(trash, "wrong", "entry.json"), '{"version":1,"id":"x","files":[{"name":"../../x"}]}');
  expect(await trashed(nodeTrashFiles, trash)).toEqual([]);
});

test("companion files of a rollout with a Codex name are found", async () => {
  const directory = await temporaryFolder();
  const rollout = "rollout-2026-11-16T00-00-00-01a1e278-c9af-73b9-84ae-93f3a1bd5b54.jsonl";
  const { companionPath } = await import("../../../src/rollouts/layout.js");
  const path = join(directory, rollout);
  for (const file of [path, companionPath(path, "torn-1"), companionPath(path, "lock")]) await writeFile(file, "x");
  const names = (await conversationFiles(path)).map(({ name }) => name);
  expect(names).toEqual([rollout, expect.stringMatching(/^\.cody-[0-9a-f]{16}\.torn-1$/)]);
});

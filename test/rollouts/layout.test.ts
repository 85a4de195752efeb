import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ConversationNotFoundError, InvalidInputError } from "../../src/base/errors.js";
import { findById, findConversation } from "../../src/rollouts/list/find-conversation.js";
import { companionPath, idFromFileName, newRolloutPath, projectFolder } from "../../src/rollouts/layout.js";
import { rolloutsIn, rolloutsInSync } from "../../src/rollouts/list/layout-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const uuid = "01a1e1d7-dabe-7fa0-8c45-6d698618970c";
const other = "01a1e1d8-dabe-7fa0-8c45-6d698618970c";
const revert = "01a1e1d9-dabe-7fa0-8c45-6d698618970c";

function put(directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  return path;
}

/** The synchronous and the asynchronous search must agree. */
async function found(directory: string): Promise<Record<string, string>> {
  const all = await rolloutsIn(directory);
  expect(rolloutsInSync(directory)).toEqual(all);
  return Object.fromEntries(all.map(({ id, path }) => [id, path]));
}

test("each layout names new files in its own way", () => {
  // File names use local time.
  const now = new Date(2026, 10, 6, 3, 4, 5);
  const rollout = { conversationId: `conv_${uuid}`, now, cwd: "/home/alice/my_app" };
  expect(newRolloutPath("cody", "/c", rollout)).toBe(`/c/conv_${uuid}.jsonl`);
  expect(newRolloutPath("project", "/c", rollout)).toBe(`/c/home_alice_my_app/${uuid}.jsonl`);
  expect(newRolloutPath("codex", "/s", rollout)).toBe(`/s/2026/11/06/rollout-2026-11-06T03-04-05-${uuid}.jsonl`);
});

test("the id is parsed from a file name in any layout", () => {
  expect(idFromFileName(`conv_${uuid}.jsonl`)).toBe(`conv_${uuid}`);
  expect(idFromFileName(`${uuid}.jsonl`)).toBe(`conv_${uuid}`);
  expect(idFromFileName(`rollout-2026-11-06T03-04-05-${uuid}.jsonl`)).toBe(`conv_${uuid}`);
  expect(idFromFileName(`rollout-2026-11-06T03-04-05-${uuid}_${other}.jsonl`)).toBe(`conv_${uuid}`);
  expect(idFromFileName("mine.jsonl")).toBe("mine");
  for (const name of [`conv_${uuid}.jsonl.lock`, `${uuid}.jsonl.zst`, ".jsonl", "a b.jsonl", "notes.txt"]) {
    expect([name, idFromFileName(name)]).toEqual([name, undefined]);
  }
});

test("the folder of a project is its path as a single name", () => {
  expect(projectFolder("/a/b_c")).toBe("a_b_c");
  expect(projectFolder("/a/b/../c/")).toBe("a_c");
  expect(projectFolder("/")).toBe("_");
  // A folder whose name looks like a file name would not be searched.
  expect(projectFolder("/data/x.jsonl")).toBe("data_x_jsonl");
  const [one, two] = [`/${"é/".repeat(300)}one`, `/${"ü/".repeat(300)}one`].map(projectFolder);
  expect(Buffer.byteLength(one ?? "")).toBeLessThanOrEqual(200);
  expect(one).toMatch(/^[0-9a-f]{16}_.*_one$/);
  expect(one).not.toBe(two);
});

test("companion files of a rollout with a Codex name do not contain its id", () => {
  expect(companionPath(`/c/conv_${uuid}.jsonl`, "lock")).toBe(`/c/conv_${uuid}.jsonl.lock`);
  const path = `/s/2026/11/06/rollout-2026-11-06T03-04-05-${uuid}.jsonl`;
  expect(companionPath(path, "lock")).toMatch(/^\/s\/2026\/11\/06\/\.cody-[0-9a-f]{16}\.lock$/);
  expect(companionPath(path, "torn-1")).toBe(companionPath(path, "lock").replace("lock", "torn-1"));
  expect(companionPath(path.replace("05-", "06-"), "lock")).not.toBe(companionPath(path, "lock"));
});

test("a directory is searched in all layouts at once", async () => {
  const directory = await temporaryFolder();
  const codex = "rollout-2026-11-06T03-04-05";
  const paths = {
    [`conv_${uuid}`]: put(directory, `conv_${uuid}.jsonl`),
    mine: put(directory, "mine.jsonl"),
    [`conv_${other}`]: put(directory, `home_alice_my.app/${other}.jsonl`),
    [`conv_${revert}`]: put(directory, `2026/11/06/${codex}-${revert}.jsonl`),
  };
  put(directory, ".heads.json");
  put(directory, "notes.txt");
  put(directory, `conv_${uuid}.jsonl.lock`);
  put(directory, `2026/11/06/${codex}-${revert}.jsonl.lock`);
  put(directory, "2026/11/deeper/than/codex.jsonl");
  expect(await found(directory)).toEqual(paths);
  expect(await found(join(directory, "none"))).toEqual({});
});

test("of several files of a conversation the one Codex continues is used", async () => {
  const directory = await temporaryFolder();
  put(directory, `2026/11/06/rollout-2026-11-06T03-04-05-${uuid}.jsonl`);
  const later = put(directory, `2026/11/07/rollout-2026-11-07T00-00-00-${uuid}_${revert}.jsonl`);
  expect(await found(directory)).toEqual({ [`conv_${uuid}`]: later });
});

test("an id or a prefix that is not in the first directory is looked up in the next", async () => {
  const directory = await temporaryFolder();
  const [own, codex] = [join(directory, "own"), join(directory, "codex")];
  const here = put(own, `conv_${uuid}.jsonl`);
  const there = put(codex, `2026/11/06/rollout-2026-11-06T03-04-05-${other}.jsonl`);
  put(codex, `2026/11/06/rollout-2026-11-06T03-04-05-${uuid}.jsonl`);
  const both = [own, codex];
  for (const text of [uuid, `conv_${uuid}`, uuid.slice(0, 8), "01a1e1d"]) {
    expect(await findConversation(both, text)).toEqual({ id: `conv_${uuid}`, path: here });
  }
  for (const text of [other, `conv_${other}`, other.slice(0, 8)]) {
    expect(await findConversation(both, text)).toEqual({ id: `conv_${other}`, path: there });
  }
  await expect(findConversation([codex], "01a1e1d")).rejects.toThrow(InvalidInputError);
  await expect(findConversation(both, "0f")).rejects.toThrow(ConversationNotFoundError);
  expect(await findById(both, other)).toEqual({ id: `conv_${other}`, path: there });
  expect(await findById(both, other.slice(0, 8))).toBeUndefined();
  // Directories after the first may be unreadable.
  writeFileSync(join(directory, "file"), "");
  expect(await findConversation([own, join(directory, "file")], "01a")).toMatchObject({ id: `conv_${uuid}` });
  await expect(findConversation([join(directory, "file")], "01a")).rejects.toThrow("ENOTDIR");
});

import { readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConversationPersistence } from "../../../../src/actors/conversation/saved/conversation-persistence.js";
import { TrashBin } from "../../../../src/actors/retention/trash-bin.js";
import { conversationPlaces } from "../../../../src/config/paths.js";
import type { CoreMessage } from "../../../../src/rollouts/history-messages.js";
import { rolloutLines } from "../../../support/rollout-lines.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const project = "home_alice_app";
const day = 24 * 60 * 60 * 1000;

function uuid(number: number): string {
  return `01a1e278-c9af-73b9-84ae-${String(number).padStart(12, "0")}`;
}

async function newProject() {
  const [home, runtime] = [await temporaryFolder(), await temporaryFolder()];
  const directory = join(home, "conversations", project);
  const options = { home, cwd: "/app", env: { XDG_RUNTIME_DIR: runtime } };
  function open(sessionId: string, identifier = project): ConversationPersistence {
    const persistence = new ConversationPersistence(sessionId, identifier, options);
    onTestFinished(() => persistence.close());
    return persistence;
  }
  /** A closed conversation of the given age in days. */
  async function put(number: number, ageDays: number, identifier = project): Promise<string> {
    const persistence = open(uuid(number), identifier);
    await persistence.persistMessages([{ role: "user", content: `hello ${number}` }]);
    await persistence.close();
    const then = (Date.now() - ageDays * day) / 1000;
    await utimes(join(home, "conversations", identifier, `${uuid(number)}.jsonl`), then, then);
    return uuid(number);
  }
  return { home, directory, options, open, put };
}

const said: CoreMessage[] = [
  { role: "user", content: "list the files" },
  {
    role: "assistant",
    content: "I should look.",
    thinking: true,
    isThinkingComplete: true,
    thinkingSignature: "sig==",
  },
  {
    role: "tool",
    content: "a.txt",
    toolName: "ls",
    toolArgs: { path: "." },
    toolCallId: "call_1",
    toolResult: "a.txt",
  },
  { role: "assistant", content: "There is a.txt." },
];

test("messages are loaded as they were saved, and only new ones are written", async () => {
  const { directory, open } = await newProject();
  const first = open(uuid(1));
  await first.persistMessages(said);
  expect(await first.loadConversation()).toEqual(said);
  await first.close();
  const path = join(directory, `${uuid(1)}.jsonl`);
  for (const round of [1, 2, 3]) {
    const before = (await rolloutLines(path)).length;
    const resumed = open(uuid(1));
    const history = await resumed.loadConversation();
    const next: CoreMessage[] = [{ role: "user", content: `round ${round}` }];
    await resumed.persistMessages(next);
    expect(await resumed.loadConversation()).toEqual([...history, ...next]);
    await resumed.close();
    expect(await rolloutLines(path)).toHaveLength(before + 1);
  }
});

test("incomplete messages are not saved", async () => {
  const { open, directory } = await newProject();
  const persistence = open(uuid(1));
  await persistence.persistMessages([
    { role: "assistant", content: "half a th", thinking: true, isThinkingComplete: false },
    { role: "tool", content: "", toolName: "ls", toolArgs: {} },
    { role: "status", content: "working" },
  ]);
  expect(await readdir(directory).catch(() => [])).toEqual([]);
  expect(await persistence.loadConversation()).toEqual([]);
});

test("the newest conversation of a project is found, without those of other projects", async () => {
  const { open, put } = await newProject();
  const looking = open("");
  expect(await looking.getLatestConversation()).toBeNull();
  const ids = [await put(1, 0), await put(3, 9), await put(2, 8)];
  await put(9, 100, "elsewhere");
  expect(await looking.getLatestConversation()).toBe(uuid(3));
  expect(await looking.getAllConversations()).toEqual([ids[1], ids[2], ids[0]]);
  expect(await looking.getOldConversations()).toEqual([uuid(3), uuid(2)]);
  expect(await looking.getOldConversations(9)).toEqual([uuid(3)]);
  const { size, age } = await looking.getConversationStats(uuid(2));
  expect([size > 100, Math.round(age)]).toEqual([true, 8]);
  await expect(looking.getConversationStats("nothing")).rejects.toMatchObject({ code: "CONVERSATION_NOT_FOUND" });
  await expect(looking.persistMessages(said)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await looking.loadConversation(uuid(2))).toEqual([{ role: "user", content: "hello 2" }]);
  expect(() => open("../x")).toThrow("invalid session id");
  expect(() => open("", "..")).toThrow("invalid project identifier");
});

test("deleting continues after a failure, and deleted conversations can be restored from the trash", async () => {
  const { home, directory, options, open, put } = await newProject();
  const ids = [await put(1, 0), await put(2, 0)];
  const linked = uuid(3);
  await writeFile(join(home, "elsewhere.jsonl"), "{}\n");
  await symlink(join(home, "elsewhere.jsonl"), join(directory, `${linked}.jsonl`));
  const looking = open("");
  const sizes = await Promise.all(ids.map(async (id) => (await looking.getConversationStats(id)).size));
  const [first = "", second = ""] = ids;
  expect(await looking.deleteConversations([first, linked, second])).toEqual({
    deletedCount: 2,
    totalSize: sizes.reduce((sum, size) => sum + size, 0),
    // The trash still holds every byte.
    totalSizeFreed: 0,
    successes: ids.map((sessionId, index) => ({ success: true, sessionId, size: sizes[index], sizeFreed: 0 })),
    failures: [
      { success: false, sessionId: linked, size: 0, sizeFreed: 0, error: `${linked}.jsonl is not a regular file` },
    ],
  });
  expect(await looking.deleteConversation("nothing")).toEqual({
    success: false,
    sessionId: "nothing",
    size: 0,
    sizeFreed: 0,
    error: "conversation not found",
  });
  const places = conversationPlaces({ home, codexHome: undefined, persistence: {} });
  await using bin = await TrashBin.open({ places, env: options.env, now: () => new Date() });
  await bin.restore(first);
  expect(await looking.loadConversation(first)).toEqual([{ role: "user", content: "hello 1" }]);
});

test("a conversation that is open in this process is not deleted", async () => {
  const { open } = await newProject();
  const busy = open(uuid(1));
  await busy.persistMessages(said);
  expect(await busy.deleteConversation(uuid(1))).toMatchObject({
    success: false,
    error: `it is in use by this process (pid ${process.pid})`,
  });
  await busy.close();
  expect(await busy.deleteConversation(uuid(1))).toMatchObject({ success: true });
});

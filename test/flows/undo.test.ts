import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openConversation } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, type Reply, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const config = { sandbox: "danger-full-access" } as const;

async function open(replies: Iterable<Reply>, noPersistence = false) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "a.txt"), "one\n");
  const provider = scripted(replies);
  const settings = noPersistence ? { ...config, persistence: { enabled: false } } : config;
  const opened = await openConversation({ provider, config: settings, env: { PATH: process.env["PATH"] }, cwd });
  return { ...opened, cwd, file: (name: string) => readFile(join(cwd, name), "utf8").catch(() => undefined) };
}

function shell(callId: string, script: string): Reply {
  return calls("shell", callId, { command: ["sh", "-c", script] });
}

const twoTurns = [
  shell("c1", "printf 'two\\n' > a.txt"),
  says("done"),
  shell("c2", "printf new > b.txt"),
  says("done"),
];

test("undo reverts one turn after another, reports it, and leaves the history unchanged", async () => {
  const { conversation, events, file, cwd } = await open([...twoTurns, says("hello")]);
  for (const text of ["first", "second", "hi"]) await conversation.processMessage(text);
  const history = conversation.getHistory();
  const id = await conversation.submit({ type: "undo" });
  const completed = {
    type: "undo_completed",
    success: true,
    message: `Reverted the last turn that changed files, in ${cwd}:\n  b.txt`,
  };
  expect(await events.until("undo_completed")).toEqual(completed);
  const said = events.seen.filter((event) => event.id === id).map(({ msg }) => msg);
  expect(said).toEqual([{ type: "undo_started", message: "Reverting the last turn that changed files" }, completed]);
  expect([await file("a.txt"), await file("b.txt")]).toEqual(["two\n", undefined]);
  expect(await conversation.undo()).toMatchObject({ success: true, message: expect.stringContaining("a.txt") });
  expect(await file("a.txt")).toBe("one\n");
  expect(await conversation.undo()).toEqual({ success: false, message: "No changes to undo" });
  expect(conversation.getHistory()).toEqual(history);
  await conversation.flush();
  const lines = await rolloutLines(conversation.rolloutPath ?? "");
  expect(JSON.stringify(lines)).toContain('"undo_completed"');
});

test("undo does nothing when files have changed since, and names them", async () => {
  const { conversation, file, cwd } = await open(twoTurns);
  await conversation.processMessage("first");
  await writeFile(join(cwd, "a.txt"), "three\n");
  expect(await conversation.undo()).toEqual({
    success: false,
    message: "Nothing was changed; these files block the undo:\n  a.txt: has changed since",
  });
  expect(await file("a.txt")).toBe("three\n");
});

test("undo is refused while a turn runs", async () => {
  const { conversation, events, file } = await open([...twoTurns.slice(0, 2), shell("c2", "sleep 60")]);
  await conversation.processMessage("first");
  await conversation.submit("second");
  await events.until("exec_command_begin");
  const refused = { success: false, message: "Cannot undo while a turn is running" };
  expect(await conversation.undo()).toEqual(refused);
  expect(await events.until("undo_completed")).toEqual({ type: "undo_completed", ...refused });
  expect(await file("a.txt")).toBe("two\n");
  await conversation.interrupt();
  await events.until("turn_aborted");
});

test("input submitted during an undo is answered after it", async () => {
  const { conversation, events, file } = await open(twoTurns.slice(0, 2).concat(says("hello")));
  await conversation.processMessage("first");
  const [, input] = await Promise.all([conversation.submit({ type: "undo" }), conversation.submit("hi")]);
  await events.until("undo_completed");
  expect(await file("a.txt")).toBe("one\n");
  const isEnd = ({ id, msg }: (typeof events.seen)[number]) => id === input && msg.type === "task_complete";
  while (!events.seen.some(isEnd)) await events.until("task_complete");
});

test("an unsaved conversation has nothing to undo", async () => {
  const { conversation } = await open(twoTurns, true);
  await conversation.processMessage("first");
  expect(await conversation.undo()).toEqual({
    success: false,
    message: "This conversation does not save file changes",
  });
});

import { chmod, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventMsg } from "../../src/messages/event.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, type Reply, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const config = { sandbox: "danger-full-access" } as const;

/** A conversation in a folder with some files. */
async function open(replies: Iterable<Reply>, options: Partial<Parameters<typeof openConversation>[0]> = {}) {
  const cwd = options.cwd ?? (await temporaryFolder());
  await writeFile(join(cwd, "old.txt"), "one\ntwo\n");
  await writeFile(join(cwd, "gone.txt"), "gone\n");
  const provider = scripted(replies);
  const env = { PATH: process.env["PATH"] };
  return { provider, ...(await openConversation({ provider, config, env, ...options, cwd })) };
}

function shell(callId: string, script: string): Reply {
  return calls("shell", callId, { command: ["sh", "-c", script] });
}

async function playTurn({ conversation, events }: Awaited<ReturnType<typeof open>>, text: string): Promise<EventMsg[]> {
  const from = events.seen.length;
  await conversation.submit(text);
  await events.until("task_complete");
  return events.seen.slice(from).map(({ msg }) => msg);
}

function ofType<T extends EventMsg["type"]>(msgs: readonly EventMsg[], type: T) {
  return msgs.filter((msg): msg is Extract<EventMsg, { type: T }> => msg.type === type);
}

test("a turn reports its file changes once, whichever tool made them", async () => {
  const opened = await open([
    calls("write_file", "c1", { path: "old.txt", content: "one\n2\n" }),
    shell("c2", "rm gone.txt && mkdir new && printf new > new/file.txt"),
    says("done"),
  ]);
  const msgs = await playTurn(opened, "go");
  const [diff, ...more] = ofType(msgs, "turn_diff");
  expect(more).toEqual([]);
  expect(diff).toMatchObject({
    summary: { files_modified: 1, files_created: 1, files_deleted: 1, total_additions: 2, total_deletions: 2 },
    files_modified: ["old.txt"],
    files_created: ["new/file.txt"],
    files_deleted: ["gone.txt"],
  });
  expect(diff?.files.find(({ path }) => path === "old.txt")?.hunks).toEqual([
    {
      old_start: 1,
      old_count: 2,
      new_start: 1,
      new_count: 2,
      lines: [
        { type: "context", text: "one" },
        { type: "deletion", text: "two" },
        { type: "addition", text: "2" },
      ],
    },
  ]);
  expect(diff?.unified_diff).toContain("diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n");
  expect(msgs.map(({ type }) => type).slice(-2)).toEqual(["turn_diff", "task_complete"]);
  expect(ofType(msgs, "warning")).toEqual([]);
});

test("without a call files are not scanned, and without changes nothing is reported", async () => {
  const opened = await open([says("hello"), shell("c1", "cat old.txt"), says("done")]);
  await playTurn(opened, "hello");
  expect(await readdir(opened.home)).not.toContain("workspaces");
  const msgs = await playTurn(opened, "look");
  expect(ofType(msgs, "turn_diff")).toEqual([]);
  expect(opened.conversation.getHistory().filter(({ type }) => type === "ghost_snapshot")).toEqual([]);
});

test("a turn's changes are a ghost snapshot in history and rollout, which is not sent to the model", async () => {
  const opened = await open([shell("c1", "echo 1 > a"), says("one"), shell("c2", "echo 2 > a"), says("two")]);
  await playTurn(opened, "one");
  await playTurn(opened, "two");
  const ghosts = opened.conversation.getHistory().filter(({ type }) => type === "ghost_snapshot");
  expect(ghosts).toHaveLength(2);
  expect(ghosts[0]).toEqual({
    type: "ghost_snapshot",
    ghost_commit: {
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      parent: null,
      preexisting_untracked_files: [],
      preexisting_untracked_dirs: [],
    },
  });
  const lines = await rolloutLines(opened.conversation.rolloutPath ?? "");
  expect(lines.filter(({ payload }) => payload["type"] === "ghost_snapshot").map(({ payload }) => payload)).toEqual(
    ghosts,
  );
  await opened.conversation.compact();
  expect(opened.conversation.getHistory().filter(({ type }) => type === "ghost_snapshot")).toEqual(ghosts);
});

test("changes made between two turns do not count as changes of a turn", async () => {
  const opened = await open([shell("c1", "echo 1 > a"), says("one"), shell("c2", "echo 2 > b"), says("two")]);
  await playTurn(opened, "one");
  await writeFile(join(opened.cwd, "mine.txt"), "mine\n");
  const [diff] = ofType(await playTurn(opened, "two"), "turn_diff");
  expect(diff).toMatchObject({ files_created: ["b"], files_modified: [] });
});

test("ignored files, git's own and cody's are not tracked; modes and links are", async () => {
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "sub"));
  await writeFile(join(cwd, ".gitignore"), "*.log\n/build/\n!kept.log\n");
  await writeFile(join(cwd, "sub", ".gitignore"), "secret\n");
  await writeFile(join(cwd, "run.sh"), "echo\n");
  await chmod(join(cwd, "run.sh"), 0o644);
  await symlink("old.txt", join(cwd, "link"));
  const script =
    "mkdir -p build .git node_modules/x home && touch a.log kept.log build/x .git/x node_modules/x/y home/x sub/secret sub/seen && chmod +x run.sh && ln -sfn gone.txt link";
  const opened = await open([shell("c1", script), says("done")], { cwd, home: join(cwd, "home") });
  const [diff] = ofType(await playTurn(opened, "go"), "turn_diff");
  expect(diff).toMatchObject({
    files_created: ["kept.log", "sub/seen"],
    files_modified: ["link", "run.sh"],
    files_deleted: [],
  });
  expect(diff?.unified_diff).toContain("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n");
});

test("a missing folder causes a warning and does not fail the turn", async () => {
  const cwd = await temporaryFolder();
  const opened = await open([shell("c1", "true"), says("one"), shell("c2", "true"), says("two")], { cwd });
  await rm(cwd, { recursive: true });
  const msgs = await playTurn(opened, "one");
  expect(ofType(msgs, "warning").map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^File changes in .* are not tracked and cannot be shown or undone: Cannot read .*: it does not exist/,
    ),
  ]);
  expect(ofType(msgs, "task_complete")).toMatchObject([{ last_agent_message: "one" }]);
  expect(ofType(await playTurn(opened, "two"), "warning")).toEqual([]);
});

test("an interrupted turn reports its changes too", async () => {
  const opened = await open([shell("c1", "echo 1 > a; sleep 60")]);
  await opened.conversation.submit("go");
  await opened.events.until("exec_command_begin");
  await expect.poll(() => readdir(opened.cwd)).toContain("a");
  await opened.conversation.interrupt();
  expect(await opened.events.until("turn_diff")).toMatchObject({ files_created: ["a"] });
  await opened.events.until("turn_aborted");
});

test("without persistence nothing is stored or tracked", async () => {
  const opened = await open([shell("c1", "echo 1 > a"), says("one")], {
    config: { ...config, persistence: { enabled: false } },
  });
  expect(ofType(await playTurn(opened, "go"), "turn_diff")).toEqual([]);
  expect(await readdir(opened.home)).toEqual([]);
});

test("a turn's changes are stored beside its rollout, and its ghost snapshot is there after a resume", async () => {
  const opened = await open([shell("c1", "echo 1 > a"), says("one")]);
  const folder = `${opened.conversation.rolloutPath ?? ""}.snapshots`;
  await playTurn(opened, "one");
  expect((await readdir(folder)).filter((name) => name.endsWith(".json"))).toEqual(["000001.json"]);
  await opened.manager.shutdown();
  const { manager } = await openManager({ home: opened.home, providers: [scripted([])] });
  expect((await manager.resumeConversation(opened.conversationId)).getHistory().at(-1)).toMatchObject({
    type: "ghost_snapshot",
  });
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation } from "../../src/actors/conversation/handle.js";
import type { MockReply } from "../../src/mock-llm/script.js";
import { bareId } from "../../src/base/text/conversation-id.js";
import { ConversationInUseError } from "../../src/base/errors.js";
import { Codex } from "../support/codex.js";
import { expectInOrder, inputOf, shape } from "../support/model-input.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { openMock } from "../support/open-mock-llm.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { mockLlm, wireEnv } from "../support/wire-apis.js";

const summary = "Summary of earlier conversation:\n\nThe user is called Alice.";

/** A Codex and a cody with layout codex, each with its own model server; cody's is strict. */
async function openBoth(script: { readonly cody: readonly MockReply[]; readonly codex: readonly MockReply[] }) {
  const cody = await mockLlm(script.cody);
  // Not strict: newer Codex sends client_metadata, which is not documented.
  const model = await openMock({ strict: false, script: [...script.codex] });
  const codex = await Codex.open(model);
  await writeFile(join(codex.cwd, "notes.txt"), "hello\n");
  const open = async () => {
    const { manager } = await openManager({
      home: join(codex.home, "..", "cody"),
      cwd: codex.cwd,
      env: { ...wireEnv(cody), CODEX_HOME: codex.home, PATH: process.env["PATH"] },
      config: {
        provider: "openai",
        api: "responses",
        model: "gpt-5",
        approvalPolicy: "never",
        sandbox: "danger-full-access",
        persistence: { layout: "codex" },
      },
      // So that Codex includes it in its default list.
      source: "interactive",
    });
    return manager;
  };
  return { codex, open, codyRequests: cody.requests, codexRequests: model.requests };
}

/** A second turn that is stopped while its command runs. */
async function interruptTurn(conversation: Conversation, text: string): Promise<void> {
  const events = new EventLog(conversation);
  await events.until("task_complete");
  await conversation.submit(text);
  await events.until("exec_command_begin");
  await conversation.interrupt();
  await events.until("turn_aborted");
}

test("a conversation moves from cody to Codex and back with all messages, tool calls, reasoning and interrupted turns", async () => {
  const { codex, open, codyRequests, codexRequests } = await openBoth({
    cody: [
      { text: "Hello Alice." },
      { text: "The user is called Alice." },
      {
        reasoning: "Both should be looked at.",
        text: "I will look.",
        calls: [
          { name: "shell", arguments: { command: ["sh", "-c", "echo one"] }, id: "call_one" },
          { name: "read_file", arguments: { path: "notes.txt" }, id: "call_two" },
          { name: "read_file", arguments: { path: "missing.txt" }, id: "call_failed" },
        ],
      },
      { text: "It says one, and the notes say hello." },
      { calls: [{ name: "shell", arguments: { command: ["sleep", "600"] }, id: "call_three" }] },
      { text: "Here I am again." },
    ],
    codex: [
      { text: "I look too.", calls: [{ name: "exec_command", arguments: { cmd: "echo two" }, id: "call_four" }] },
      { text: "You are Alice." },
    ],
  });

  const first = await open();
  const { conversation, conversationId } = await first.newConversation();
  await conversation.processMessage("my name is Alice");
  const path = conversation.rolloutPath ?? "";
  expect(await conversation.compact()).toMatchObject({ status: "compacted", source: "model" });
  await first.shutdown();

  const second = await open();
  const again = await second.resumeConversation(conversationId);
  await again.processMessage("What is there?");
  await interruptTurn(again, "wait");
  const ours = again.getHistory().map(shape);
  await second.shutdown();
  expect(ours).toEqual(
    expect.arrayContaining([
      { user: summary },
      expect.objectContaining({ reasoning: [{ type: "summary_text", text: "Both should be looked at." }] }),
      expect.objectContaining({ call: "call_one" }),
      expect.objectContaining({ of: "call_two" }),
      expect.objectContaining({ of: "call_three" }),
    ]),
  );

  expect(await codex.list()).toMatchObject([{ id: bareId(conversationId), preview: "my name is Alice", path }]);
  const before = await readFile(path, "utf8");
  const { code, stderr } = await codex.exec("resume", bareId(conversationId), "Who am I?");
  expect(code).toBe(0);
  // Codex has no type for cody's own lines and for the event before a compaction; it knows all others.
  const unread = [...stderr.matchAll(/failed to parse rollout line: .*?"type": String\("(\w+)"\)/g)].map(
    ([, type]) => type,
  );
  expect(unread.filter((type) => type !== "cody" && type !== "event_msg")).toEqual([]);
  const given = inputOf(codexRequests, 0);
  const start = given.findIndex((item) => JSON.stringify(item) === JSON.stringify(ours[0]));
  expect(given.slice(start, start + ours.length)).toEqual(ours);
  expect(given.at(-1)).toEqual({ user: "Who am I?" });
  // Codex continued in cody's file, after the existing lines.
  expect((await readFile(path, "utf8")).startsWith(before)).toBe(true);

  const third = await open();
  const back = await third.resumeConversation(conversationId);
  expect(back).toMatchObject({ id: conversationId, rolloutPath: path });
  expect(back.settings).toMatchObject({ provider: "openai", model: "gpt-5" });
  await back.processMessage("And now?");
  await third.shutdown();
  expect(codyRequests.at(-1)).toMatchObject({ status: 200, refusal: undefined });
  const theirs = inputOf(codexRequests, -1).slice(start);
  expect(JSON.stringify(theirs)).toContain("call_four");
  const everything = [...theirs, { assistant: "You are Alice." }, { user: "And now?" }];
  expect(inputOf(codyRequests, -1)).toHaveLength(everything.length);
  expectInOrder(inputOf(codyRequests, -1), everything);
  const metas = (await rolloutLines(path)).filter(({ type }) => type === "session_meta");
  expect(metas).toHaveLength(1);
});

test("cody continues a conversation that Codex started, and Codex knows cody's turns", async () => {
  const { codex, open, codyRequests, codexRequests } = await openBoth({
    cody: [{ text: "You are Alice." }],
    codex: [{ text: "Hello Alice." }, { text: "cody said so." }],
  });
  expect(await codex.exec("my name is Alice")).toMatchObject({ code: 0 });
  const manager = await open();
  const [{ id: began } = { id: "" }] = await manager.listConversations();
  const conversation = await manager.resumeConversation(began);
  await conversation.processMessage("Who am I?");
  const ours = conversation.getHistory().map(shape);
  await manager.shutdown();
  expectInOrder(inputOf(codyRequests, -1), [
    { user: "my name is Alice" },
    { assistant: "Hello Alice." },
    { user: "Who am I?" },
  ]);
  expect(await codex.exec("resume", bareId(conversation.id), "Who said so?")).toMatchObject({ code: 0 });
  expectInOrder(inputOf(codexRequests, -1), [...ours, { user: "Who said so?" }]);
});

test("while cody has a conversation open Codex is locked out, and writes of a Codex too old to lock are detected", async () => {
  const { codex, open } = await openBoth({ cody: [{ text: "Hello." }, { text: "Yes." }], codex: [{ text: "Hi." }] });
  const locks = await codex.locks();
  const manager = await open();
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("hi");
  const { code, stderr } = await codex.exec("resume", bareId(conversationId), "hi");
  expect({ code, isRefused: stderr.includes("already has an active writer") }).toEqual({
    code: locks ? 1 : 0,
    isRefused: locks,
  });
  await conversation.processMessage("Are you there?");
  expect((await conversation.flush()).status).toBe(locks ? "saved" : "not_saved");
});

test("while Codex has a conversation open cody is locked out", async () => {
  const { codex, open, codexRequests } = await openBoth({
    cody: [{ text: "Hello." }],
    codex: [{ deltas: 1000, delayMs: 100 }],
  });
  const locks = await codex.locks();
  const manager = await open();
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("hi");
  await conversation.shutdown();
  codex.start("resume", bareId(conversationId), "hi").stdin.end();
  await expect.poll(() => codexRequests.length, { timeout: 20_000 }).toBe(1);
  const outcome = await manager.resumeConversation(conversationId).catch((error: unknown) => error);
  // A Codex too old to lock cannot be detected.
  expect(outcome instanceof ConversationInUseError).toBe(locks);
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { recordedConfig } from "../../../src/actors/conversation/state/settings.js";
import { apply, type ConversationState, emptyState } from "../../../src/actors/conversation/state/state.js";
import type { ResponseItem } from "../../../src/messages/response-item.js";
import { needsRepair, scanRollout } from "../../../src/rollouts/repair/repair-scan.js";
import { readRollout } from "../../../src/rollouts/file/read.js";
import { TurnGrouping } from "../../../src/rollouts/turns.js";
import { assistant, user } from "../../support/scripted-provider.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const fixtures = fileURLToPath(new URL("../../fixtures/forms/", import.meta.url));
const conversationId = "conv_01932d4c-89ab-7890-abcd-123456789abc";

async function stateOf(path: string): Promise<{ state: ConversationState; skipped: number }> {
  const state = emptyState();
  const reading = readRollout(path, conversationId);
  for await (const read of reading) apply(state, read.line);
  return { state, skipped: reading.end.skipped };
}

const call = (id: string, name: string, input: object): ResponseItem => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: JSON.stringify(input),
});
const output = (id: string, text: string): ResponseItem => ({
  type: "function_call_output",
  call_id: id,
  output: text,
});
const thought = (text: string, signature: string): ResponseItem => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
  encrypted_content: signature,
});

function summary(text: string): ResponseItem {
  const content = [{ type: "input_text" as const, text: `Summary of earlier conversation:\n\n${text}` }];
  return { type: "message", role: "user", content, summary: true };
}

function line(message: object): string {
  return `${JSON.stringify({ timestamp: "t", messageIndex: 0, messageType: "conversation", sessionId: "s", message })}\n`;
}

const formats = [
  {
    name: "turns.jsonl",
    history: [user("Hello"), assistant("Hi there!"), user("How are you?")],
    recorded: { provider: "openai", model: "gpt-4" },
  },
  {
    name: "turns-compacted.jsonl",
    history: [user("Hello"), summary("They said hello."), user("Go on"), assistant("Gladly.")],
    recorded: { provider: "anthropic", model: "claude-sonnet-4-20250514" },
  },
  {
    name: "messages.jsonl",
    history: [
      user("Help me implement a new feature"),
      thought(
        "I'd be happy to help you implement a new feature. Let me start by reading your current codebase...",
        "sig_abc123",
      ),
      call("tool_123", "Read", { file_path: "src/app.ts" }),
      output("tool_123", "// App.tsx content here..."),
      assistant("Based on your current code structure, here's how I recommend implementing the new feature..."),
    ],
    recorded: { provider: "anthropic", cwd: "/Users/dev/myproject" },
  },
  {
    name: "entries-1.jsonl",
    history: [
      user("Which files are there?"),
      thought("I look.", "sig"),
      assistant("Let me look."),
      call("call_1", "bash", { command: "ls" }),
      output("call_1", "a.txt"),
      assistant("There is a.txt."),
    ],
    recorded: { provider: "anthropic", model: "claude-sonnet-4-20250514", cwd: "/projects/site" },
  },
  {
    name: "entries-2.jsonl",
    history: [
      user("[Session Summary]\nThey counted.\n\n## Files Read\n- a.txt\n\n## Files Modified\n- b.txt"),
      user("two"),
      assistant("second"),
      user("three"),
      assistant("third"),
    ],
    recorded: { provider: "openai", model: "gpt-4o", cwd: "/projects/site" },
  },
];

test.each(formats)("$name is read as the conversation it contains", async ({ name, history, recorded }) => {
  const { state, skipped } = await stateOf(join(fixtures, name));
  expect(state.history).toEqual(history);
  expect(recordedConfig(state)).toEqual(recorded);
  expect(skipped).toBe(0);
});

test.each(formats)("$name has no damaged or skipped lines", async ({ name, history }) => {
  const scan = await scanRollout({ path: join(fixtures, name), conversationId });
  expect(needsRepair(scan)).toBe(false);
  expect(scan).toMatchObject({ unknown: 0, history: { items: history.length } });
});

test.each(formats)("$name cut at any line is read as a prefix of the conversation", async ({ name }) => {
  const path = join(await temporaryFolder(), "cut.jsonl");
  const lines = (await readFile(join(fixtures, name), "utf8")).trimEnd().split("\n");
  for (let length = 1; length <= lines.length; length += 1) {
    await writeFile(path, `${lines.slice(0, length).join("\n")}\n${lines[length]?.slice(0, 20) ?? ""}`);
    expect((await stateOf(path)).skipped).toBe(0);
  }
});

test("seconds and milliseconds are distinguished, and each line is a turn", async () => {
  const turns = new TurnGrouping();
  for await (const read of readRollout(join(fixtures, "turns.jsonl"), conversationId)) turns.add(read.line);
  expect(turns.turns.map(({ timestamp, metadata }) => ({ timestamp, metadata }))).toEqual([
    { timestamp: 1_699_564_800_000, metadata: { provider: "openai", model: "gpt-4" } },
    { timestamp: 1_699_564_805_000, metadata: { tokens: 15 } },
    { timestamp: 1_699_564_810_000, metadata: undefined },
  ]);
});

test("the git information of the project is kept", async () => {
  const { state } = await stateOf(join(fixtures, "messages.jsonl"));
  expect(state.meta).toMatchObject({ id: conversationId.slice(5), git: { commit_hash: "abc123" } });
});

test("unfinished messages are not part of the history", async () => {
  const path = join(await temporaryFolder(), "messages.jsonl");
  await writeFile(
    path,
    line({ role: "user", content: [{ type: "text", text: "hello" }] }) +
      line({ role: "assistant", content: "hm", thinking: true, isThinkingComplete: false }) +
      line({ role: "tool", toolName: "Read", toolArgs: {}, toolCallId: "c" }),
  );
  const { state, skipped } = await stateOf(path);
  expect(state.history).toEqual([user("hello")]);
  expect(skipped).toBe(0);
});

test("AI SDK messages can have parts", async () => {
  const path = join(await temporaryFolder(), "messages.jsonl");
  const toolCall = { type: "tool-call", toolCallId: "c", toolName: "Read", args: { path: "a" } };
  await writeFile(
    path,
    line({ role: "assistant", content: [{ type: "text", text: "I read." }, toolCall] }) +
      line({ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "Read", result: { a: 1 } }] }),
  );
  const { state } = await stateOf(path);
  expect(state.history).toEqual([assistant("I read."), call("c", "Read", { path: "a" }), output("c", '{"a":1}')]);
});

test("invalid content in older formats is skipped and counted", async () => {
  const path = join(await temporaryFolder(), "odd.jsonl");
  await writeFile(
    path,
    [
      '{"timestamp":1,"items":[{"type":"message","role":"user","content":7},{"type":"message"}]}',
      '{"messageType":"conversation","message":{"role":"oracle","content":"?"}}',
      '{"messageType":"of tomorrow","message":{}}',
      '{"type":"message","id":"1","message":{"role":"user"}}',
      '{"type":"message","id":"2","parentId":"nobody","message":{"role":"user","content":"hello"}}',
      '{"type":"compaction","id":"3","parentId":"2","summary":"s","firstKeptEntryId":"nobody"}',
      "",
    ].join("\n"),
  );
  const { state, skipped } = await stateOf(path);
  expect(state.history).toEqual([user("[Session Summary]\ns")]);
  expect(skipped).toBe(4);
});

test("a line with an invalid or out-of-range time is read", async () => {
  const path = join(await temporaryFolder(), "times.jsonl");
  const times = ['{"toString":1,"valueOf":1}', "-1e12", "-8.64e15", "1e400", '"-271821-04-20T00:00:00.000Z"', "[[]]"];
  const items = '[{"type":"message","role":"user","content":[{"type":"text","text":"one"}]}]';
  const message = '{"role":"user","content":"one"}';
  const lines = times.flatMap((time) => [
    `{"timestamp":${time},"items":${items}}`,
    `{"timestamp":${time},"messageType":"conversation","message":${message}}`,
  ]);
  await writeFile(path, `${lines.join("\n")}\n`);
  const { state, skipped } = await stateOf(path);
  expect(state.history).toEqual(lines.map(() => user("one")));
  expect(skipped).toBe(0);
});

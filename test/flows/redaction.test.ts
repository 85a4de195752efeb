import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/tools/define-tool.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, says, scripted } from "../support/scripted-provider.js";

const key = "sk-live-0123456789abcdef";
const env = { OPENAI_API_KEY: key };

const echo = defineTool({
  name: "echo",
  description: "says it again",
  parameters: z.strictObject({ text: z.string() }),
  readOnly: true,
  run: ({ text }) => `it said ${text}`,
});

test("the model gets a secret of a message but not of a tool, the file has neither, and a resume restores the rest", async () => {
  const provider = scripted([calls("echo", "call_1", { text: key }), says(`I saw ${key}`), says("again")]);
  const opened = await openConversation({ provider, env, tools: [echo] });
  await opened.conversation.processMessage(`my api_key=XYZ is ${key}`);
  const live = opened.conversation.getHistory();
  expect(JSON.stringify(live)).toContain(`my api_key=XYZ is ${key}`);
  expect(JSON.stringify(provider.requests[1])).toContain("it said [redacted]");
  await opened.manager.shutdown();
  const file = await readFile(opened.conversation.rolloutPath ?? "", "utf8");
  expect(file).not.toContain(key);
  expect(file).not.toContain("XYZ");
  const { manager } = await openManager({ home: opened.home, env, providers: [provider], tools: [echo] });
  const resumed = await manager.resumeConversation(opened.conversationId);
  const expected: unknown = JSON.parse(
    JSON.stringify(live).replaceAll(key, "[redacted]").replaceAll("XYZ", "[redacted]"),
  );
  expect(resumed.getHistory()).toEqual(expected);
  await resumed.processMessage("go on");
  expect(JSON.stringify(provider.requests[2])).toContain("my api_key=[redacted] is [redacted]");
});

test("the number of redacted secrets is reported once per turn and on each line", async () => {
  const provider = scripted([says(`${key} and password=hunter2`), says("nothing more")]);
  const { conversation, events } = await openConversation({ provider, env });
  await conversation.submit(`remember ${key}`);
  expect(await events.until("secrets_redacted")).toEqual({ type: "secrets_redacted", count: 2 });
  expect(await events.until("task_complete")).toMatchObject({ saved: true });
  await conversation.submit("and now?");
  await events.until("task_complete");
  expect(events.types().filter((type) => type === "secrets_redacted")).toHaveLength(1);
  const counts = (await rolloutLines(conversation.rolloutPath)).map((line) => ("redacted" in line ? line.redacted : 0));
  expect(counts.filter((count) => count !== 0)).toEqual([1, 1, 2, 2, 2]);
});

test("other variable names can be configured, under both setting names", async () => {
  for (const config of [{ history: { sensitivePatterns: ["pin"] } }, { redaction: { sensitivePatterns: ["pin"] } }]) {
    const { conversation } = await openConversation({ provider: scripted([says("noted")]), config });
    await conversation.processMessage("pin=4711abc password=stays1");
    const file = await readFile(conversation.rolloutPath ?? "", "utf8");
    expect(file).toContain("pin=[redacted] password=stays1");
  }
});

test("an invalid name pattern is refused and named", () => {
  const config = { redaction: { sensitivePatterns: ["password", "(a+)+$"] } };
  return expect(openManager({ config })).rejects.toThrow(/redaction\.sensitivePatterns\.1/);
});

test("key-shaped texts are redacted on disk when that is configured", async () => {
  const said = "AKIAIOSFODNN7EXAMPLE";
  for (const shapes of [true, false]) {
    const { conversation } = await openConversation({
      provider: scripted([says("noted")]),
      config: { redaction: { shapes } },
    });
    await conversation.processMessage(`use ${said}`);
    expect((await readFile(conversation.rolloutPath ?? "", "utf8")).includes(said)).toBe(!shapes);
  }
});

test("names of conversations are stored without secrets", async () => {
  const opened = await openConversation({ provider: scripted([]), config: { providers: { openai: { apiKey: key } } } });
  await opened.conversation.rename(`work on ${key}`);
  expect(opened.conversation.name).toBe(`work on ${key}`);
  await opened.manager.shutdown();
  const names = await readFile(join(opened.home, "conversations", ".names.jsonl"), "utf8");
  expect(names).toContain('"work on [redacted]"');
  expect(await readFile(opened.conversation.rolloutPath ?? "", "utf8")).not.toContain(key);
});

import { once } from "node:events";
import { expect, test } from "vitest";
import type { BatchOptions } from "../../src/batch/run-batch.js";
import type { BatchResult, BatchTask } from "../../src/messages/batch.js";
import { offlineProvider } from "../../src/providers/offline/provider.js";
import type { Provider } from "../../src/providers/provider.js";
import type { ConversationManager } from "../../src/manager.js";
import { openManager } from "../support/open-conversation.js";
import { fails, says, scripted } from "../support/scripted-provider.js";

const offline = { provider: "offline", model: "offline" } as const;

async function results(
  manager: ConversationManager,
  tasks: readonly BatchTask[],
  options: BatchOptions = {},
): Promise<BatchResult[]> {
  const all: BatchResult[] = [];
  for await (const result of manager.runBatch(tasks, options)) all.push(result);
  return all;
}

test("each task gets a conversation of its own and one result", async () => {
  const { manager } = await openManager({ config: offline });
  const tasks = [2, 3, 4].map((number) => ({ key: `sum-${number}`, prompt: `What is ${number}+${number}?` }));
  const all = await results(manager, tasks, { concurrency: 2 });
  expect(
    all.map(({ key, status, answer }) => ({ key, status, answer })).toSorted((a, b) => a.key.localeCompare(b.key)),
  ).toEqual(
    [2, 3, 4].map((number) => ({
      key: `sum-${number}`,
      status: "done",
      answer: expect.stringContaining(String(number * 2)),
    })),
  );
  expect(new Set(all.map(({ conversation_id }) => conversation_id)).size).toBe(3);
  expect(all.every(({ attempts }) => attempts === 1)).toBe(true);
});

test("never more tasks run at once than asked for", async () => {
  let [running, most] = [0, 0];
  const full = new AbortController();
  const model = offlineProvider({ countTokens: (text) => text.length });
  const counting: Provider = {
    name: "counting",
    async *stream(request, signal) {
      running += 1;
      most = Math.max(most, running);
      if (running === 3) full.abort();
      if (!full.signal.aborted) await once(full.signal, "abort");
      try {
        yield* model.stream(request, signal);
      } finally {
        running -= 1;
      }
    },
  };
  const { manager } = await openManager({ providers: [counting], config: { provider: "counting", model: "any" } });
  const tasks = Array.from({ length: 9 }, (_, index) => ({ prompt: `What is ${index}+1?` }));
  expect(await results(manager, tasks, { concurrency: 3 })).toHaveLength(9);
  expect(most).toBe(3);
});

test("a failed task is tried again as often as its line says, and reported then", async () => {
  const model = scripted([fails("auth", false), fails("auth", false), says("At last."), fails("auth", false)]);
  const { manager } = await openManager({ providers: [model], config: { provider: "scripted", model: "any" } });
  const tasks = [
    { key: "patient", prompt: "try", retries: 2 },
    { key: "impatient", prompt: "try" },
  ];
  expect(await results(manager, tasks, { concurrency: 1 })).toMatchObject([
    { key: "patient", status: "done", answer: "At last.", attempts: 3 },
    { key: "impatient", status: "failed", answer: null, attempts: 1, error: expect.stringContaining("auth") },
  ]);
});

test("a task that was started before continues in its conversation, and an answered one is not asked again", async () => {
  const model = scripted([says("The answer.")]);
  const { manager } = await openManager({ providers: [model], config: { provider: "scripted", model: "any" } });
  const { conversation, conversationId } = await manager.newConversation();
  await conversation.processMessage("question");
  await conversation.shutdown();
  const started = new Map([["known", conversationId]]);
  expect(await results(manager, [{ key: "known", prompt: "question" }], { started })).toMatchObject([
    { key: "known", status: "done", answer: "The answer.", conversation_id: conversationId, attempts: 1 },
  ]);
  expect(model.requests).toHaveLength(1);
});

test("an aborted batch interrupts its tasks, which have no result", async () => {
  const abort = new AbortController();
  const stuck: Provider = {
    name: "stuck",
    async *stream(_request, signal) {
      abort.abort();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield { type: "text_delta", itemId: "item", delta: "" };
    },
  };
  const { manager } = await openManager({ providers: [stuck], config: { provider: "stuck", model: "any" } });
  expect(
    await results(manager, [{ prompt: "wait" }, { prompt: "never begins" }], { concurrency: 1, signal: abort.signal }),
  ).toEqual([]);
});

test.each([
  [[{ prompt: " " }], "the prompt is empty"],
  [[{ prompt: "x", colour: "red" } as BatchTask], "colour"],
  [
    [
      { key: "a", prompt: "x" },
      { key: "a", prompt: "y" },
    ],
    "the key a occurs twice",
  ],
])("invalid tasks are refused before any begins: %j", async (tasks, reason) => {
  const { manager } = await openManager({ config: offline });
  await expect(results(manager, tasks)).rejects.toThrow(reason);
});

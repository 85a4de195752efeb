import { expect, test } from "vitest";
import { createMockClient } from "../support/mock-client.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";

const broken: [string, () => number, string][] = [
  ["NaN", () => Number.NaN, "returned NaN"],
  ["a negative number", () => -0.5, "returned -0.5"],
  ["no end", () => Number.POSITIVE_INFINITY, "returned Infinity"],
  ["no number", () => "7" as never, "returned a string"],
  ["a promise", () => Promise.resolve(7) as never, "returned an object"],
  [
    "an error",
    () => {
      throw new Error("no vocabulary");
    },
    "failed: no vocabulary",
  ],
];

async function opened(countTokens: (text: string) => number) {
  const { manager } = await openManager({ client: createMockClient(["four", "four"]), tokenizer: { countTokens } });
  const { conversation } = await manager.newConversation({ provider: "mock", model: "mock" });
  return { manager, conversation, events: new EventLog(conversation) };
}

test.each(broken)(
  "a tokenizer that returns %s is reported once, and its counts are estimated instead",
  async (_, countTokens, complaint) => {
    const { conversation, events } = await opened(countTokens);
    await conversation.processMessage("12345678");
    await conversation.processMessage("12345678");
    await conversation.shutdown();
    await events.until("shutdown_complete");
    const warnings = events.seen.flatMap(({ msg }) => (msg.type === "warning" ? [msg.message] : []));
    expect(warnings).toEqual([`tokenizer: countTokens() ${complaint}; using an estimate instead`]);
    const lines = await rolloutLines(conversation.rolloutPath);
    const [usage] = lines.flatMap(({ payload }) => (payload["type"] === "token_count" ? [payload["info"]] : []));
    expect(usage).toMatchObject({ last_token_usage: { output_tokens: 1 } });
  },
);

test("only texts that the tokenizer cannot count are estimated", async () => {
  const { conversation, events } = await opened((text) => (text === "four" ? Number.NaN : 10));
  await conversation.processMessage("12345678");
  const { info } = await events.until("token_count");
  expect(info?.last_token_usage).toMatchObject({ input_tokens: 20, output_tokens: 1 });
});

test("fractional token counts are rounded up", async () => {
  const { conversation, events } = await opened((text) => text.length / 3);
  await conversation.processMessage("12345678");
  const { info } = await events.until("token_count");
  expect(info?.last_token_usage).toMatchObject({ output_tokens: 2 });
});

test.each(broken)("an exact count with a tokenizer that returns %s is refused", async (_, countTokens, complaint) => {
  const { manager } = await opened(countTokens);
  await expect(manager.countTokens(["text"], { model: "mock" })).rejects.toMatchObject({
    name: "FailureError",
    message: `tokenizer: countTokens() ${complaint}`,
  });
});

import { expect, test } from "vitest";
import { mockLlm, toolOutputs, wireApis, wireManager } from "../support/wire-apis.js";

const pairs = wireApis.flatMap((first) => wireApis.map((second) => ({ first, second })));

test.each(pairs)(
  "a conversation started over $first.api continues over $second.api in another manager",
  async ({ first, second }) => {
    const mock = await mockLlm([
      { text: "Looking.", reasoning: "I should look first.", calls: [{ name: "read_file", arguments: { path: "a" } }] },
      { text: "There is no such file" },
      { text: "You asked for a" },
    ]);
    const before = await wireManager(mock, first);
    const { conversation, conversationId } = await before.manager.newConversation();
    await conversation.processMessage("What is in a?");
    await before.manager.shutdown();

    const after = await wireManager(mock, second, { home: before.home });
    const { provider, api, model } = second;
    const resumed = await after.manager.resumeConversation(conversationId, { provider, model });
    expect(resumed.settings).toMatchObject({ provider, api, model });
    await resumed.processMessage("Which one?");
    expect(mock.requests.map(({ path, refusal, status }) => ({ path, refusal, status }))).toEqual(
      [first, first, second].map(({ path }) => ({ path, refusal: undefined, status: 200 })),
    );
    const last = mock.requests[2] ?? { body: {} };
    expect(Object.values(toolOutputs(last))).toHaveLength(1);
    expect(JSON.stringify(last.body)).toContain("There is no such file");
  },
);

test("a conversation continues with its recorded provider, although another one is configured", async () => {
  const mock = await mockLlm([{ text: "one" }, { text: "two" }]);
  const [responses, , messages] = wireApis;
  if (responses === undefined || messages === undefined) throw new Error("there are three wire APIs");
  const before = await wireManager(mock, messages);
  const { conversation, conversationId } = await before.manager.newConversation();
  await conversation.processMessage("Hi");
  await before.manager.shutdown();
  const after = await wireManager(mock, responses, { home: before.home });
  await (await after.manager.resumeConversation(conversationId)).processMessage("Again");
  expect(mock.requests.map(({ path }) => path)).toEqual([messages.path, messages.path]);
});

import { describe, expect, test } from "vitest";
import { EventLog } from "../support/open-conversation.js";
import { mockKey, mockLlm, wireApis, wireManager } from "../support/wire-apis.js";

interface Body {
  readonly input?: readonly { readonly role: string }[];
  readonly tools?: readonly unknown[];
}

const contextWindow = 10_000;
const large = { input_tokens: 8_900, output_tokens: 100 };

describe.each(wireApis)("over $api", (spoken) => {
  const { api, provider, path, model } = spoken;
  const config = { provider, api, model, contextWindow };

  test("a history over the limit is summarized by the same model in a thread, and the next request is small", async () => {
    const mock = await mockLlm([
      { text: "A long answer", usage: large },
      { text: "They talked about boats." },
      { text: "Still here" },
    ]);
    const { manager } = await wireManager(mock, spoken, { config });
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("Tell me of boats");
    await conversation.processMessage("And now?");
    expect(mock.requests.map((request) => [request.path, request.status])).toEqual(
      Array.from({ length: 3 }, () => [path, 200]),
    );
    const [, summary, next] = mock.requests.map(({ body }) => body as Record<string, unknown>);
    expect(summary).toMatchObject({ model });
    expect(summary).not.toHaveProperty("tools");
    expect([summary?.["max_output_tokens"], summary?.["max_completion_tokens"], summary?.["max_tokens"]]).toContain(
      4096,
    );
    expect(JSON.stringify(summary)).toContain("concise summary");
    expect(JSON.stringify(next)).toContain("They talked about boats.");
    expect(JSON.stringify(next)).toContain("Tell me of boats");
    expect(JSON.stringify(next)).not.toContain("A long answer");
    expect(JSON.stringify(next)).not.toContain("concise summary");
  });

  test("a request refused as too long is compacted and sent again, with its tool calls", async () => {
    const mock = await mockLlm([
      { calls: [{ name: "read_file", arguments: { path: "/etc/hostname" } }] },
      { fault: { type: "overflow" } },
      { text: "They read a file." },
      { text: "Done" },
    ]);
    const { manager } = await wireManager(mock, spoken, { config });
    const { conversation } = await manager.newConversation();
    const items = await conversation.processMessage("Read /etc/hostname");
    expect(items.at(-1)).toMatchObject({ content: [{ text: "Done" }] });
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 400, 200, 200]);
    const summary = conversation.getHistory().find((item) => item.type === "message" && item.summary === true);
    expect(JSON.stringify(summary)).toContain("They read a file.");
    expect(JSON.stringify(summary)).toContain("/etc/hostname");
  });

  test("a server that fails twice is asked again, and the key is never written or shown", async () => {
    const mock = await mockLlm([
      { text: "An answer", usage: large },
      { fault: { type: "status", status: 500 } },
      { fault: { type: "disconnect", afterBytes: 0 } },
      { text: "The summary" },
    ]);
    const { manager } = await wireManager(mock, spoken, { config });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Hi");
    await events.until("task_complete");
    expect(mock.requests).toHaveLength(4);
    expect(JSON.stringify(conversation.getHistory())).toContain("The summary");
    expect(JSON.stringify(events.seen)).not.toContain(mockKey);
  });
});

test("an o-series model gets its earlier requests instead of a summary, and its tools", async () => {
  const mock = await mockLlm([{ text: "One", usage: large }, { text: "Two" }]);
  const spoken = { api: "responses", provider: "openai", path: "/v1/responses", model: "o3" } as const;
  const { manager } = await wireManager(mock, spoken, {
    config: { provider: "openai", api: "responses", model: "o3", contextWindow },
  });
  const { conversation } = await manager.newConversation();
  await conversation.processMessage("First request");
  await conversation.processMessage("Second request");
  expect(mock.requests).toHaveLength(2);
  const { input = [], tools = [] } = (mock.requests[1]?.body ?? {}) as Body;
  expect(input.map(({ role }) => role)).toEqual(["developer", "user", "user"]);
  expect(JSON.stringify(input[1])).toContain("Previous requests:\\nFirst request");
  expect(JSON.stringify(input[2])).toContain("Second request");
  expect(tools.length).toBeGreaterThan(0);
});

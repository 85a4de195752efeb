import { expect, onTestFinished, test } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { createTransport } from "../../src/providers/transport/node-transport.js";
import { wireProvider } from "../../src/providers/wire-provider.js";
import { mockKey, mockLlm, wireApis } from "../support/wire-apis.js";

const request: ModelRequest = {
  conversationId: "conv_1",
  model: "m",
  instructions: "Be brief.",
  input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
  tools: [],
};

async function eventsOf(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

test.each(wireApis)(
  "$api: the transport is made once, with the first request, and the key asked for at each",
  async (spoken) => {
    const mock = await mockLlm([{ text: "one" }, { text: "two" }]);
    const asked: string[] = [];
    const provider = wireProvider({
      provider: spoken.provider,
      api: spoken.api,
      baseUrl: spoken.provider === "openai" ? `${mock.url}/v1` : mock.url,
      transport: () => {
        asked.push("transport");
        const transport = createTransport({});
        onTestFinished(() => transport.close());
        return Promise.resolve(transport);
      },
      credential: () => {
        asked.push("key");
        return mockKey;
      },
    });
    expect([provider.name, asked]).toEqual([spoken.provider, []]);
    const { signal } = new AbortController();
    expect((await eventsOf(provider.stream(request, signal))).at(-1)).toEqual({ type: "done", finishReason: "stop" });
    expect((await eventsOf(provider.stream(request, signal))).at(-1)).toEqual({ type: "done", finishReason: "stop" });
    expect(asked).toEqual(["transport", "key", "key"]);
    expect(mock.requests.map(({ path }) => path)).toEqual([spoken.path, spoken.path]);
  },
);

test("a request that is aborted while everything is still being loaded is not sent", async () => {
  const abort = new AbortController();
  const mock = await mockLlm([{ text: "never" }]);
  const provider = wireProvider({
    provider: "openai",
    api: "chat",
    baseUrl: `${mock.url}/v1`,
    transport: () => {
      abort.abort();
      return Promise.resolve(createTransport({}));
    },
    credential: () => mockKey,
  });
  expect(await eventsOf(provider.stream(request, abort.signal))).toEqual([]);
  expect(mock.requests).toEqual([]);
});

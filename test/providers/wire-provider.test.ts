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
  "$api: the transport is created with the first request, and the credential is read for each request",
  async (wire) => {
    const mock = await mockLlm([{ text: "one" }, { text: "two" }]);
    const calls: string[] = [];
    const provider = wireProvider({
      provider: wire.provider,
      api: wire.api,
      baseUrl: wire.provider === "openai" ? `${mock.url}/v1` : mock.url,
      transport: () => {
        calls.push("transport");
        const transport = createTransport({});
        onTestFinished(() => transport.close());
        return Promise.resolve(transport);
      },
      credential: () => {
        calls.push("key");
        return mockKey;
      },
    });
    expect([provider.name, calls]).toEqual([wire.provider, []]);
    const { signal } = new AbortController();
    expect((await eventsOf(provider.stream(request, signal))).at(-1)).toEqual({ type: "done", finishReason: "stop" });
    expect((await eventsOf(provider.stream(request, signal))).at(-1)).toEqual({ type: "done", finishReason: "stop" });
    expect(calls).toEqual(["transport", "key", "key"]);
    expect(mock.requests.map(({ path }) => path)).toEqual([wire.path, wire.path]);
  },
);

test("a request aborted while the transport is loading is not sent", async () => {
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

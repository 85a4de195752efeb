import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Failure } from "../../../src/messages/failure.js";
import type { ModelEvent } from "../../../src/messages/model.js";
import { anthropicMessages } from "../../../src/providers/messages/stream.js";
import { createTransport } from "../../../src/providers/transport/node-transport.js";
import type { WireConnection } from "../../../src/providers/transport/request-head.js";
import { blockStart, delta, ending, eventOf, recorded, recordedEvents, start, stop } from "./recorded-stream.js";
import { type Answer, begin, serve, streaming } from "../loopback.js";
import { joinDeltas, collect, requestOf, user } from "../requests.js";

const model = "claude-sonnet-4-5";
const transport = createTransport({});

describe("an answer", () => {
  test("has text, thinking, tool calls and usage as model events", async () => {
    expect(joinDeltas(await answered(streaming(recorded)))).toEqual(joinDeltas(recordedEvents(model)));
  });

  test("is the same however the bytes are split", async () => {
    const bytes = Buffer.from(recorded);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat({ max: bytes.length }), { maxLength: 40 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(joinDeltas(await answered(streaming(...pieces)))).toEqual(joinDeltas(recordedEvents(model)));
      }),
      { numRuns: 25 },
    );
  });

  test("keeps redacted thinking without content, and empty thinking with its signature", async () => {
    const events = await answered(
      streaming(
        start(),
        blockStart(0, { type: "redacted_thinking", data: "sealed" }) + stop(0),
        blockStart(1, { type: "thinking", thinking: "", signature: "" }),
        delta(1, { type: "signature_delta", signature: "signed" }) + stop(1),
        blockStart(2, { type: "thinking", thinking: "", signature: "" }) + stop(2),
        ending("end_turn"),
      ),
    );
    const origin = { api: "messages", model };
    expect(itemsOf(events)).toEqual([
      { type: "reasoning", summary: [], encrypted_content: "sealed", origin },
      {
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: "" }],
        encrypted_content: "signed",
        origin,
      },
    ]);
  });

  test("has {} for a tool call without input, unless the answer was cut there", async () => {
    const two = start() + blockStart(0, toolUse("a")) + stop(0) + blockStart(1, toolUse("b")) + stop(1);
    const whole = await answered(streaming(two, ending("tool_use")));
    expect(itemsOf(whole)).toEqual([called("a", "{}"), called("b", "{}")]);
    expect(whole.at(-1)).toEqual({ type: "done", finishReason: "tool_calls" });
    const cut = await answered(streaming(two, ending("max_tokens")));
    expect(itemsOf(cut)).toEqual([called("a", "{}"), called("b", "{")]);
    expect(cut.at(-1)).toEqual({ type: "done", finishReason: "length" });
  });

  test("takes a tool input that content_block_start already has", async () => {
    const block = { type: "tool_use", id: "a", name: "read", input: { path: "x" } };
    const events = await answered(streaming(start(), blockStart(0, block) + stop(0), ending("tool_use")));
    expect(itemsOf(events)).toEqual([{ type: "function_call", name: "read", arguments: '{"path":"x"}', call_id: "a" }]);
  });

  test("ignores events after its end and events of unknown types", async () => {
    const strange =
      eventOf({ type: "from_the_future" }) + blockStart(7, { type: "server_tool_use", id: "s" }) + stop(7);
    const end = ending("end_turn");
    const events = await answered(
      streaming(start() + strange + delta(9, { type: "text_delta", text: "?" }), end + end),
    );
    expect(events.map(({ type }) => type)).toEqual(["usage", "done"]);
  });
});

test("text and thinking without a content_block_stop are complete at message_stop", async () => {
  const thinking = blockStart(0, { type: "thinking", thinking: "" });
  const thought = delta(0, { type: "thinking_delta", thinking: "Greet" });
  const text = blockStart(1, { type: "text", text: "" }) + delta(1, { type: "text_delta", text: "Hello" });
  const events = await answered(streaming(start() + thinking + thought + text, ending("end_turn")));
  expect(itemsOf(events)).toMatchObject([
    { type: "reasoning", content: [{ text: "Greet" }] },
    { type: "message", content: [{ text: "Hello" }] },
  ]);
  expect(events.at(-1)).toEqual({ type: "done", finishReason: "stop" });
});

test("text before an unfinished tool call is kept, and the answer fails", async () => {
  const text = blockStart(0, { type: "text", text: "" }) + delta(0, { type: "text_delta", text: "Hello" });
  const call = blockStart(1, { type: "tool_use", id: "a", name: "run", input: {} });
  const events = await answered(streaming(start() + text + call, ending("tool_use")));
  expect(itemsOf(events)).toMatchObject([{ type: "message", content: [{ text: "Hello" }] }]);
  expect(events.at(-1)).toMatchObject({ type: "failed", failure: { code: "network" } });
});

describe("a failed answer", () => {
  const begun = start() + blockStart(0, { type: "text", text: "" }) + delta(0, { type: "text_delta", text: "half" });

  test("a stream without message_stop is a network failure, and its complete items are kept", async () => {
    const events = await answered(streaming(begun + stop(0)));
    expect(itemsOf(events)).toHaveLength(1);
    expect(events.at(-1)).toEqual(failed({ code: "network", retryable: true, message: cutText }));
  });

  test("a tool call without content_block_stop is not reported, although the message ends with tool_use", async () => {
    const call = blockStart(0, { type: "tool_use", id: "a", name: "run", input: {} });
    const json = delta(0, { type: "input_json_delta", partial_json: '{"command":["rm"]}' });
    const events = await answered(streaming(start() + call + json, ending("tool_use")));
    expect(itemsOf(events)).toEqual([]);
    expect(events.at(-1)).toEqual(failed({ code: "network", retryable: true, message: cutText }));
  });

  test("a lost connection is a network failure", async () => {
    const events = await answered(async (response) => {
      begin(response, begun);
      await new Promise(setImmediate);
      response.destroy();
    });
    expect(events.at(-1)).toMatchObject(failed({ code: "network", retryable: true }));
  });

  test.each([
    ["overloaded_error", "overloaded", true],
    ["rate_limit_error", "rate_limit", true],
    ["api_error", "server", true],
    ["invalid_request_error", "invalid_request", false],
    ["authentication_error", "auth", false],
  ] as const)("%s inside a stream", async (type, code, retryable) => {
    const error = eventOf({ type: "error", error: { type, message: "no" } });
    const events = await answered(streaming(begun, error, ending("end_turn")));
    expect(events.slice(1)).toEqual([failed({ code, retryable, message: "anthropic: no" })]);
  });

  test.each(["not json", "[]", "null", '"text"', "{".repeat(100_000)])(
    "an event that is not a JSON object fails the answer",
    async (text) => {
      const events = await answered(streaming(begun, `data: ${text}\n\n`, ending("end_turn")));
      expect(events.at(-1)).toMatchObject(failed({ code: "bad_message", retryable: true }));
    },
  );

  test("fields of wrong types never throw", async () => {
    const odd = fc.constantFrom<unknown>(null, 1, "x", [], {}, { type: "text" }, { type: "tool_use" });
    const event = fc.record({
      type: fc.constantFrom("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
      index: odd,
      message: odd,
      content_block: odd,
      delta: odd,
      usage: odd,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event), async (events) => {
        const last = (await answered(streaming(events.map(eventOf).join(""), ending("end_turn")))).at(-1);
        expect(["done", "failed"]).toContain(last?.type);
      }),
      { numRuns: 50 },
    );
  });

  test("a refusal of the model is a content_filtered failure", async () => {
    const events = await answered(streaming(start(), ending("refusal")));
    const message = "anthropic: the model declined to answer";
    expect(events).toEqual([failed({ code: "content_filtered", retryable: false, message })]);
  });

  test("an HTTP error is not retried here, and its message hides the key", async () => {
    const { url, requests } = await serve((response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
      const error = { type: "rate_limit_error", message: "slow down, sk-test" };
      response.end(JSON.stringify({ type: "error", error }));
    });
    const message = "anthropic answered 429: slow down, [key]";
    const failure = { code: "rate_limit", retryable: true, retryAfterMs: 7_000, message } as const;
    expect(await collect(stream(url))).toEqual([failed(failure)]);
    expect(requests).toHaveLength(1);
  });

  test("a server that only pings is a timeout", async () => {
    const { url } = await serve((response) => {
      begin(response, start());
      const pings = setInterval(() => response.write(eventOf({ type: "ping" })), 10);
      response.once("close", () => clearInterval(pings));
    });
    const message = "anthropic: no data received for 0.2 s";
    expect(await collect(stream(url, { idleMs: 200 }))).toEqual([
      failed({ code: "timeout", retryable: true, message }),
    ]);
  });

  test("a refused connection is a network failure", async () => {
    const events = await collect(stream("http://127.0.0.1:1"));
    expect(events).toMatchObject([failed({ code: "network", retryable: true })]);
  });
});

describe("an abort", () => {
  test("before the start sends no request", async () => {
    const { url, connections } = await serve(streaming(recorded));
    expect(await collect(stream(url, { signal: AbortSignal.abort() }))).toEqual([]);
    expect(connections).toBe(0);
  });

  test("during the answer ends it without a last event and closes the connection", async () => {
    const controller = new AbortController();
    const { url, open } = await serve((response) => begin(response, recorded.slice(0, recorded.length / 2)));
    const events: ModelEvent[] = [];
    for await (const event of stream(url, { signal: controller.signal })) {
      events.push(event);
      controller.abort();
    }
    expect(events).toHaveLength(1);
    await vi.waitFor(() => expect(open.size).toBe(0));
  });

  test("while the server is silent ends the answer", async () => {
    const controller = new AbortController();
    const { url, open } = await serve(() => controller.abort());
    expect(await collect(stream(url, { signal: controller.signal }))).toEqual([]);
    await vi.waitFor(() => expect(open.size).toBe(0));
  });
});

describe("a request", () => {
  test("has the given key or none, and nothing from the environment", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-environment");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-environment");
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    try {
      const { url, requests } = await serve(streaming(recorded));
      await collect(stream(url));
      await collect(stream(url, { apiKey: undefined }));
      expect(requests.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/messages"]);
      expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer sk-test" });
      expect(requests[1]?.headers).not.toHaveProperty("authorization");
      expect(JSON.stringify(requests)).not.toContain("environment");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("has the shape of the API", async () => {
    const { url, requests } = await serve(streaming(recorded));
    await collect(stream(url, { effort: "low" }));
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      model,
      max_tokens: 17_408,
      thinking: { type: "enabled", budget_tokens: 1_024 },
      system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: [{ type: "text", text: "go", cache_control: { type: "ephemeral" } }] }],
      tools: [{ name: "shell", description: "shell", input_schema: { type: "object", properties: {} } }],
      stream: true,
    });
  });
});

const cutText = "anthropic: the answer ended before it was complete";

interface Asked {
  readonly signal?: AbortSignal;
  readonly apiKey?: string | undefined;
  readonly effort?: string;
  readonly idleMs?: number;
}

function stream(url: string, asked: Asked = {}): AsyncIterable<ModelEvent> {
  const defaults = { signal: new AbortController().signal, apiKey: "sk-test", idleMs: 10_000 };
  const { signal, apiKey, effort, idleMs } = { ...defaults, ...asked };
  const connection: WireConnection = {
    provider: "anthropic",
    api: "messages",
    baseUrl: url,
    transport,
    idleMs,
    credential: () => apiKey,
  };
  return anthropicMessages(connection, { ...requestOf([user("go")], ["shell"]), model, effort }, signal);
}

async function answered(answer: Answer): Promise<ModelEvent[]> {
  const { url } = await serve(answer);
  return collect(stream(url));
}

function toolUse(id: string) {
  return { type: "tool_use", id, name: "list", input: {} };
}

function called(call_id: string, args: string) {
  return { type: "function_call", name: "list", arguments: args, call_id };
}

function itemsOf(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "item" ? [event.item] : []));
}

function failed(failure: Partial<Failure>) {
  return { type: "failed", failure };
}

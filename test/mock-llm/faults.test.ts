import { expect, test } from "vitest";
import type { MockFault } from "../../src/mock-llm/script.js";
import { type ApiName, apis, dataOf, hello, openMock, post, terminal } from "../support/open-mock-llm.js";

const text = "one two three four";

async function streamed(api: ApiName, fault: MockFault): Promise<Response> {
  const mock = await openMock({ script: [{ text, fault }] });
  return await post(mock, api, { ...hello(api), stream: true });
}

function countOf(part: string, whole: string): number {
  return whole.split(part).length - 1;
}

test.each(apis)("%s: a rate limit has retry-after and the error body of the API", async (api) => {
  const response = await streamed(api, { type: "status", status: 429, retryAfter: 7 });
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("7");
  const error = {
    responses: openAi("requests", "rate_limit_exceeded"),
    chat: openAi("requests", "rate_limit_exceeded"),
  };
  const body = await response.json();
  expect(body).toEqual(api === "messages" ? anthropic("rate_limit_error") : error[api]);
  expect(JSON.stringify(body)).toContain(api === "messages" ? "try again later." : "try again in 7s.");
});

test.each(apis)("%s: 409 is an invalid request and 401 an authentication error", async (api) => {
  const replies = [409, 401].map((status) => ({ fault: { type: "status" as const, status } }));
  const mock = await openMock({ script: replies });
  const bodies = [await (await post(mock, api, hello(api))).json(), await (await post(mock, api, hello(api))).json()];
  expect(bodies).toEqual(
    api === "messages"
      ? [anthropic("invalid_request_error"), anthropic("authentication_error")]
      : [openAi("invalid_request_error", null), openAi("invalid_request_error", "invalid_api_key")],
  );
});

test.each(apis)("%s: event faults of an answer without a stream keep a valid body", async (api) => {
  const faults: MockFault[] = [{ type: "error_event", status: 500 }, { type: "duplicate_terminal" }];
  const mock = await openMock({ script: faults.map((fault) => ({ text, fault })) });
  const failed = await post(mock, api, hello(api));
  expect(failed.status).toBe(500);
  expect(await failed.json()).toEqual(api === "messages" ? anthropic("api_error") : openAi("server_error", null));
  expect(JSON.stringify(await (await post(mock, api, hello(api))).json())).toContain(text);
});

test.each(apis)("%s: 500 and 529 have the error body of the API", async (api) => {
  const replies = [500, 529].map((status) => ({ fault: { type: "status" as const, status } }));
  const mock = await openMock({ script: replies });
  const answers = [await post(mock, api, hello(api)), await post(mock, api, hello(api))];
  expect(answers.map((answer) => answer.status)).toEqual([500, 529]);
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  expect(bodies).toEqual(
    api === "messages"
      ? [anthropic("api_error"), anthropic("overloaded_error")]
      : [openAi("server_error", null), openAi("server_error", null)],
  );
});

test.each([
  ["responses", "Your input exceeds the context window of this model."],
  ["chat", "This model's maximum context length is"],
  ["messages", "prompt is too long: "],
] as const)("%s: an overflow fault is the API's context window error", async (api, message) => {
  const response = await streamed(api, { type: "overflow" });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { message: string; code?: string } };
  expect(error.message).toContain(message);
  expect(error.code).toBe(api === "messages" ? undefined : "context_length_exceeded");
});

test.each(apis)("%s: a disconnect fault breaks the connection after that many bytes", async (api) => {
  const response = await streamed(api, { type: "disconnect", afterBytes: 100 });
  const chunks: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of response.body ?? []) chunks.push(chunk);
  })();
  await expect(reading).rejects.toThrow("terminated");
  expect(Buffer.concat(chunks)).toHaveLength(100);
});

test.each(apis)("%s: a disconnect after 0 bytes sends no answer", async (api) => {
  await expect(streamed(api, { type: "disconnect", afterBytes: 0 })).rejects.toThrow("fetch failed");
});

test.each(apis)("%s: faults end the stream without its terminal event, or with two", async (api) => {
  expect(await (await streamed(api, { type: "cut" })).text()).not.toContain(terminal[api]);
  expect(countOf(terminal[api], await (await streamed(api, { type: "duplicate_terminal" })).text())).toBe(2);
});

test.each(apis)("%s: garbage replaces the events, or is one of them", async (api) => {
  const body = await (await streamed(api, { type: "garbage" })).text();
  expect(body).not.toMatch(/^(?:data|event):/m);
  const event = await (await streamed(api, { type: "garbage", as: "event" })).text();
  expect(event).toContain("data: {not json\n\n");
  expect(event).toContain(terminal[api]);
});

test.each(apis)("%s: an error event ends the stream after two deltas", async (api) => {
  const body = await (await streamed(api, { type: "error_event", afterDeltas: 2, message: "Too much" })).text();
  expect(body).toContain("two ");
  expect(body).not.toContain("three");
  expect(body).toContain('"message":"Too much"');
  expect(body).not.toContain(terminal[api]);
});

test("responses: an error event has the id of its response and the next sequence number", async () => {
  const body = await (await streamed("responses", { type: "error_event", afterDeltas: 2 })).text();
  const events = dataOf(body) as { type: string; sequence_number: number; response?: { id: string } }[];
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { id: events[0]?.response?.id } });
});

test.each(apis)("%s: a ping_only fault sends pings until the client disconnects", async (api) => {
  const response = await streamed(api, { type: "ping_only", everyMs: 1 });
  const ping = api === "messages" ? "event: ping\n" : ": keep-alive\n";
  let seen = "";
  for await (const chunk of response.body ?? []) {
    seen += Buffer.from(chunk as Uint8Array).toString();
    if (countOf(ping, seen) > 3) break;
  }
  expect(seen.replaceAll(/event: ping\ndata: \{"type": "ping"\}\n\n|: keep-alive\n\n/g, "")).toBe("");
});

test.each(apis)("%s: a stall lasts until the server closes, and close does not wait for it", async (api) => {
  const mock = await openMock({
    script: [{ text, fault: { type: "stall", afterBytes: 50 } }, { fault: { type: "stall" } }],
  });
  const response = await post(mock, api, { ...hello(api), stream: true });
  const silent = post(mock, api, { ...hello(api), stream: true });
  const reader = (response.body ?? new ReadableStream()).getReader();
  expect((await reader.read()).value).toHaveLength(50);
  const rest = Promise.allSettled([reader.read(), silent]);
  await mock.close();
  expect((await rest).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

function openAi(type: string, code: string | null) {
  return { error: { message: expect.any(String), type, param: null, code } };
}

function anthropic(type: string) {
  return { type: "error", error: { type, message: expect.any(String) }, request_id: expect.any(String) };
}

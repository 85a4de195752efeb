import { expect, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { apis, dataOf, hello, openMock, post, terminal } from "../support/open-mock-llm.js";

test("requests are logged without credentials", async () => {
  const mock = await openMock({ script: [{ text: "yes" }] });
  const secrets = { authorization: "Bearer sk-secret", "x-api-key": "sk-secret", cookie: "sk-secret", "x-other": "1" };
  await post(mock, "responses", { ...hello("responses"), prompt_cache_key: "conv_1" }, secrets);
  expect(mock.requests).toMatchObject([
    {
      number: 1,
      api: "responses",
      method: "POST",
      path: "/v1/responses",
      session: "conv_1",
      status: 200,
      body: { model: "mock-1", input: "hello" },
      headers: { "x-other": "1" },
    },
  ]);
  expect(JSON.stringify(mock.requests)).not.toContain("sk-secret");
});

test("only the newest requests are logged", async () => {
  const numbers: number[] = [];
  const mock = await openMock({ keepRequests: 2, onRequest: ({ number }) => numbers.push(number) });
  for (let count = 0; count < 4; count += 1) await post(mock, "chat", hello("chat"));
  expect(mock.requests.map(({ number }) => number)).toEqual([3, 4]);
  expect(numbers).toEqual([1, 2, 3, 4]);
});

test.each([
  ["chat", "Bearer good", 200, '"role":"assistant"'],
  ["chat", "Bearer bad", 401, '"code":"invalid_api_key"'],
  ["responses", "good", 401, "You didn't provide an API key."],
  ["messages", "bad", 401, '"type":"authentication_error","message":"invalid x-api-key"'],
] as const)("with an apiKey option %s answers the key %s with %i", async (api, key, status, text) => {
  const mock = await openMock({ apiKey: "good" });
  const response = await post(mock, api, hello(api), { [api === "messages" ? "x-api-key" : "authorization"]: key });
  expect({ status: response.status, text: await response.text() }).toEqual({
    status,
    text: expect.stringContaining(text),
  });
});

test.each([
  ["responses", 400],
  ["chat", 404],
  ["messages", 404],
] as const)("%s refuses an unknown model with %i", async (api, status) => {
  const mock = await openMock({ models: ["other"] });
  expect((await post(mock, api, hello(api))).status).toBe(status);
});

test.each(apis)("%s: bodies that are not a JSON object, other paths and other methods are refused", async (api) => {
  const mock = await openMock();
  expect((await post(mock, api, "{")).status).toBe(400);
  expect((await post(mock, api, "[]")).status).toBe(400);
  expect((await fetch(`${mock.url}/v1/nothing`, { method: "POST" })).status).toBe(404);
  expect((await fetch(`${mock.url}/v1/messages`)).status).toBe(405);
});

test.each(apis)("%s reports an invalid JSON body with the API's own message", async (api) => {
  const mock = await openMock();
  const text = api === "messages" ? "The request body is not valid JSON: " : "We could not parse the JSON body of your";
  const error = { type: "invalid_request_error", message: expect.stringContaining(text) };
  expect(await (await post(mock, api, "{")).json()).toMatchObject({ error });
});

test.each(apis)("%s refuses a body nested too deeply and keeps serving", async (api) => {
  const mock = await openMock({ strict: false });
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  expect((await post(mock, api, `{"metadata":{"a":${deep}}}`)).status).toBe(400);
  expect((await post(mock, api, hello(api))).status).toBe(200);
});

function requestWithText(content: string): object {
  return { ...hello("messages"), messages: [{ role: "user", content }] };
}

test("Messages refuses a lone surrogate as invalid JSON", async () => {
  const mock = await openMock();
  expect((await post(mock, "messages", requestWithText("a whole one: 🙂 and \\ud83d in words"))).status).toBe(200);
  const response = await post(mock, "messages", requestWithText("🙂".slice(0, 1)));
  expect(response.status).toBe(400);
  const message = "The request body is not valid JSON: no low surrogate in string";
  expect(await response.json()).toMatchObject({ error: { message } });
});

test.each(["responses", "chat"] as const)("%s accepts only the content type application/json", async (api) => {
  const mock = await openMock();
  const charset = { "content-type": "application/json; charset=utf-8" };
  expect((await post(mock, api, hello(api), charset)).status).toBe(200);
  const response = await post(mock, api, hello(api), { "content-type": "text/plain" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "unsupported_content_type" } });
});

test("an unknown path has a Messages error body for a Messages client", async () => {
  const mock = await openMock();
  const headers = { "anthropic-version": "2023-06-01" };
  const response = await fetch(`${mock.url}/v1/messages/count_tokens`, { method: "POST", headers });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
});

test("the paths also work without /v1", async () => {
  const { url } = await openMock();
  const answers = ["/responses", "/chat/completions", "/messages"].map((path) => fetch(url + path, { method: "POST" }));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 400, 400]);
});

test.each(apis)("%s: a lenient server accepts a body of any shape", async (api) => {
  const mock = await openMock({ strict: false });
  const odd = {
    input: [null, { type: 5 }],
    messages: [null, 5, { role: 7, content: [{ type: "tool_use" }] }],
    tools: [3],
  };
  for (const body of [{}, odd]) expect((await post(mock, api, body)).status).toBe(200);
});

test("replies are used in order, and after the last one requests fail", async () => {
  const mock = await openMock({ script: [{ text: "a" }, { text: "b" }] });
  const texts = [];
  for (let count = 0; count < 2; count += 1) texts.push(await textOf(await post(mock, "chat", hello("chat"))));
  expect(texts).toEqual(["a", "b"]);
  const response = await post(mock, "chat", hello("chat"));
  expect({ status: response.status, text: await response.text() }).toMatchObject({
    status: 400,
    text: expect.stringContaining("the script has no more replies"),
  });
});

test("each session plays the script, and a named session its own replies", async () => {
  const replies: MockReply[] = [{ text: "a" }, { text: "b" }, { text: "mine", session: "s3" }];
  const mock = await openMock({ script: { replies, per: "session", afterLast: "offline" } });
  const ask = async (session: string) => {
    const body = { ...hello("chat"), messages: [{ role: "user", content: "2 + 2" }], prompt_cache_key: session };
    return await textOf(await post(mock, "chat", body));
  };
  const answers = [];
  for (const session of ["s1", "s2", "s1", "s3", "s1", "s2"]) answers.push(await ask(session));
  expect(answers).toEqual(["a", "a", "b", "mine", "2 + 2 = 4", "b"]);
});

test.each([
  [[{ txt: "a" }], 'replies.0: unknown key "txt"'],
  [[{ fault: { type: "fire" } }], "replies.0.fault.type"],
  [{ replies: [] }, "replies: "],
])("an invalid script is refused: %j", async (script, message) => {
  await expect(openMock({ script: script as MockReply[] })).rejects.toThrow(message);
});

const smiles = "🙂".repeat(10);

test.each(apis)("%s: a text is split into the given number of deltas, at whole characters", async (api) => {
  const mock = await openMock({ script: [{ text: smiles, deltas: 7 }, { deltas: 200 }] });
  for (const [count, whole] of [
    [7, smiles],
    [200, Array.from({ length: 200 }, (_, index) => `word${index + 1} `).join("")],
  ] as const) {
    const body = await (await post(mock, api, { ...hello(api), stream: true })).text();
    const deltas = dataOf(body).flatMap(deltaOf);
    expect(deltas).toHaveLength(count);
    expect(deltas.join("")).toBe(whole);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(body).toContain(terminal[api]);
  }
});

test.each(apis)("%s: an answer without a stream takes the time of its deltas", async (api) => {
  const mock = await openMock({ script: [{ text: "one two three", deltas: 3, delayMs: 20 }] });
  const started = performance.now();
  expect(await (await post(mock, api, hello(api))).text()).toContain("one two three");
  expect(performance.now() - started).toBeGreaterThanOrEqual(3 * 20 - 1);
});

test("delayed deltas take their time and all arrive", async () => {
  const mock = await openMock({ script: [{ deltas: 20, delayMs: 3 }] });
  const started = performance.now();
  const body = await (await post(mock, "messages", { ...hello("messages"), stream: true })).text();
  expect(performance.now() - started).toBeGreaterThanOrEqual(19 * 3);
  expect(dataOf(body).flatMap(deltaOf)).toHaveLength(20);
});

test("clients that disconnect during a stream do not break the server", async () => {
  const mock = await openMock({ script: { replies: [{ deltas: 1_000, delayMs: 1 }], afterLast: "repeat" } });
  const leaving = Array.from({ length: 20 }, async () => {
    const response = await post(mock, "responses", { ...hello("responses"), stream: true });
    const reader = (response.body ?? new ReadableStream()).getReader();
    await reader.read();
    await reader.cancel();
  });
  await Promise.all(leaving);
  await mock.close();
  await mock.close();
  expect(mock.requests).toHaveLength(20);
});

async function textOf(response: Response): Promise<string | undefined> {
  const body = (await response.json()) as { choices?: { message: { content: string } }[] };
  return body.choices?.[0]?.message.content;
}

/** The text delta of an event of any of the three APIs. */
function deltaOf(event: unknown): string[] {
  const { type, delta, choices } = event as {
    type?: string;
    delta?: string | { text?: string };
    choices?: { delta: { content?: string } }[];
  };
  const text = type === "response.output_text.delta" ? delta : (delta as { text?: string } | undefined)?.text;
  const found = text ?? choices?.[0]?.delta.content;
  return typeof found === "string" && found !== "" ? [found] : [];
}

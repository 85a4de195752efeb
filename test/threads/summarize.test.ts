import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { MockLlm } from "../../src/mock-llm/server.js";
import {
  type IoJobs,
  type SummaryTarget,
  ioPoolLimits,
  openIoPool,
  summarizeInThread,
} from "../../src/workers/io-pool.js";
import { Pool, type PoolOptions } from "../../src/workers/pool.js";
import type { SummaryRequest } from "../../src/compaction/summary/request-summary.js";
import type { SummaryOutcome } from "../../src/messages/actors/compactor.js";
import { type Answer, begin, dataOf, type Loopback, serve, streaming } from "../providers/loopback.js";
import { startProxy } from "../providers/proxy.js";
import { openMock } from "../support/open-mock-llm.js";
import { assistant, user } from "../support/scripted-provider.js";
import { testThread } from "../support/test-thread.js";
import { mockKey, mockLlm, type SpokenApi, wireApis } from "../support/wire-apis.js";

const summaryPrompt = "Please provide a concise summary of the conversation.";
const said = ["my name is Alice", "Noted", "we decided to use SQLite", "Fine", "[result of shell] ok", "Done"];
const offline: SummaryTarget = { kind: "offline" };

/** The real pool; closed when the test ends. */
function openPool(options?: Partial<PoolOptions<IoJobs>>): Pool<IoJobs> {
  const entry = testThread("faulty-summaries");
  const pool = options === undefined ? openIoPool() : new Pool<IoJobs>({ ...ioPoolLimits, entry, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

function targetOf({ url }: Pick<MockLlm, "url">, { api, provider }: SpokenApi): SummaryTarget {
  const baseUrl = api === "messages" ? url : `${url}/v1`;
  return { kind: "wire", provider, api, baseUrl, credential: mockKey, env: {} };
}

function asking(change: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    conversationId: "0192",
    model: "mock-1",
    instructions: "You are cody.",
    items: said.map((text, index) => (index % 2 === 0 ? user : assistant)(text)),
    prompt: summaryPrompt,
    maxBytes: 1_000_000,
    ...change,
  };
}

async function ask(
  pool: Pool<IoJobs>,
  target: SummaryTarget,
  change: Partial<SummaryRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<SummaryOutcome> {
  const outcome = await summarizeInThread(pool, target, asking(change), signal);
  expect(JSON.stringify(outcome)).not.toContain(mockKey);
  return outcome;
}

interface Body {
  readonly input?: readonly Said[];
  readonly messages?: readonly Said[];
}
interface Said {
  readonly role: string;
  readonly content: string | readonly { readonly text: string }[];
}

/** The texts of a request in each API's own format. */
function textsIn(request: { readonly body: unknown } = { body: {} }): string[] {
  const { input = [], messages = [] } = request.body as Body;
  return [...input, ...messages].flatMap(({ content }) =>
    typeof content === "string" ? [content] : content.map(({ text }) => text),
  );
}

describe.each(wireApis)("over the $api API", (spoken) => {
  const { api, model } = spoken;
  const limits = { responses: "max_output_tokens", chat: "max_completion_tokens", messages: "max_tokens" };

  test("the request has the key, no tools, and a limit for the answer", async () => {
    const mock = await mockLlm([{ text: "Alice uses SQLite." }]);
    const outcome = await ask(openPool(), targetOf(mock, spoken), { model, effort: "low" });
    expect(outcome).toMatchObject({ status: "done", text: "Alice uses SQLite.", truncatedCount: 0 });
    expect(outcome).toHaveProperty("usage.total_tokens", expect.any(Number));
    const [request] = mock.requests;
    expect(mock.requests).toHaveLength(1);
    expect(request).toMatchObject({ api, status: 200, body: { model, [limits[api]]: 4_096, stream: true } });
    expect(request?.body).not.toHaveProperty("tools");
    expect(request?.body).not.toHaveProperty("thinking");
    expect(textsIn(mock.requests[0]).slice(-1 - said.length)).toEqual([...said, summaryPrompt]);
  });

  test("a summary over its byte limit is stopped and not retried", async () => {
    const mock = await mockLlm([{ text: "and so on ".repeat(1_000) }]);
    const outcome = await ask(openPool(), targetOf(mock, spoken), { model, maxBytes: 5_000 });
    expect(outcome).toEqual({
      status: "failed",
      truncatedCount: 0,
      failure: {
        code: "limit_reached",
        message:
          "the summary was stopped at its limit of 5000 bytes; to allow more: cody config set turnLimits.answerBytes <number>",
        retryable: false,
      },
    });
    expect(mock.requests).toHaveLength(1);
  });

  test("items that do not fit are left out, and a failing server is retried", async () => {
    const overflow = { fault: { type: "overflow" } } as const;
    const busy = { fault: { type: "status", status: 500 } } as const;
    const dropped = { text: "Never whole", fault: { type: "disconnect", afterBytes: 60 } } as const;
    const mock = await mockLlm([overflow, busy, overflow, dropped, { text: "At last" }]);
    const outcome = await ask(openPool(), targetOf(mock, spoken), { model });
    expect(outcome).toMatchObject({ status: "done", text: "At last", truncatedCount: 2 });
    const shown = mock.requests.map((request) => textsIn(request).filter((text) => said.includes(text)));
    expect(shown).toEqual([0, 1, 1, 2, 2].map((left) => said.slice(left)));
  });

  test("a history that never fits is reported", async () => {
    const mock = await openMock({
      script: { replies: [{ fault: { type: "overflow" } }], afterLast: "repeat" },
      apiKey: mockKey,
    });
    const outcome = await ask(openPool(), targetOf(mock, spoken), { model });
    expect(outcome).toEqual({ status: "too_large", truncatedCount: 5 });
  });

  test("a refused key is not in the error", async () => {
    const mock = await openMock({ apiKey: "sk-another-one" });
    const outcome = await ask(openPool(), targetOf(mock, spoken), { model });
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "auth", retryable: false } });
    expect(mock.requests).toHaveLength(1);
  });
});

test("the offline model needs no server", async () => {
  const outcome = await ask(openPool(), offline);
  expect(outcome).toMatchObject({ status: "done", text: expect.stringContaining("SQLite"), truncatedCount: 0 });
});

describe("an abort", () => {
  test("ends the connection, and the thread keeps running", async () => {
    const pool = openPool();
    const controller = new AbortController();
    const server = await serve((response) => {
      begin(response);
      controller.abort();
    });
    expect(await ask(pool, chatAt(server), {}, controller.signal)).toEqual({ status: "aborted" });
    await expect.poll(() => server.open.size).toBe(0);
    expect(await ask(pool, offline)).toMatchObject({ status: "done" });
  });

  test("before the start sends no request", async () => {
    const server = await serve(chatAnswer);
    expect(await ask(openPool(), chatAt(server), {}, AbortSignal.abort())).toEqual({ status: "aborted" });
    expect(server.connections).toBe(0);
  });
});

test("a summary that takes too long is ended with its connection", async () => {
  const server = await serve((response) => begin(response));
  const pool = openPool({ deadlineMs: { ...ioPoolLimits.deadlineMs, summarize: 1_000 } });
  const outcome = await ask(pool, chatAt(server));
  expect(outcome).toMatchObject({ status: "failed", failure: { code: "deadline", retryable: false } });
  await expect.poll(() => server.open.size).toBe(0);
});

describe("a thread that dies is reported as a failure, and the next summary gets a new thread", () => {
  test.each(["exit", "uncaught"])("%s", async (model) => {
    const pool = openPool({});
    const target = chatAt({ url: "http://127.0.0.1:1" });
    expect(await ask(pool, target, { model })).toMatchObject({
      status: "failed",
      failure: { code: "thread_died", retryable: true, message: expect.stringContaining("summarize: the thread died") },
    });
    expect(await ask(pool, offline)).toMatchObject({ status: "done" });
  });

  test("its memory runs out", async () => {
    const pool = openPool({ maxHeapMb: 32 });
    const items = Array.from({ length: 100_000 }, (_, index) => user(`item ${index}`));
    expect(await ask(pool, offline, { items })).toEqual({
      status: "failed",
      failure: { code: "thread_died", message: "summarize: the thread ran out of memory", retryable: false },
      truncatedCount: 0,
    });
    expect(await ask(pool, offline)).toMatchObject({ status: "done" });
  });
});

// One API for each SDK.
test.each(wireApis.slice(1))(
  "the key is not in memory after a $api job, though its connection is kept alive",
  async (spoken) => {
    const mock = await mockLlm([{ text: "Said" }]);
    const pool = openPool({ threads: 1 });
    expect(await ask(pool, targetOf(mock, spoken), { model: spoken.model })).toMatchObject({ text: "Said" });
    const address = `127.0.0.1:${mock.port}`;
    const prompt = [mockKey, address].map((line) => Buffer.from(line).toString("hex")).join("\n");
    expect(await ask(pool, offline, { model: "remember", prompt })).toMatchObject({ text: address });
  },
);

describe("connections", () => {
  test("are kept alive for the next summary, even with another key", async () => {
    const server = await serve(chatAnswer);
    const pool = openPool({ threads: 1 });
    expect(await ask(pool, chatAt(server))).toMatchObject({ status: "done", text: "Said" });
    expect(await ask(pool, { ...chatAt(server), credential: "sk-other" })).toMatchObject({ status: "done" });
    expect(await ask(pool, { ...chatAt(server), credential: undefined })).toMatchObject({ status: "done" });
    expect(server.connections).toBe(1);
    const keys = server.requests.map(({ headers }) => headers.authorization);
    expect(keys).toEqual([`Bearer ${mockKey}`, "Bearer sk-other", undefined]);
  });

  test("are closed with an idle thread", async () => {
    const server = await serve(chatAnswer);
    const pool = openPool({ idleMs: 1 });
    expect(await ask(pool, chatAt(server))).toMatchObject({ status: "done" });
    await expect.poll(() => server.open.size).toBe(0);
  });

  test.each([
    ["idle", "done\n"],
    ["closed", "done\naborted\n"],
  ])("do not keep a process running: %s", async (work, stdout) => {
    const server = await serve(chatAnswer);
    const script = fileURLToPath(testThread("io-ends-by-itself"));
    // Rejects on a timeout, or when the exit code is not 0.
    const output = await promisify(execFile)(process.execPath, [script, work, `${server.url}/v1`], { timeout: 20_000 });
    expect(output).toEqual({ stdout, stderr: "" });
  });

  test("go through the configured proxy", async () => {
    const [server, proxy] = [await serve(chatAnswer), await startProxy()];
    const target = { ...chatAt(server), env: { HTTP_PROXY: proxy.url } };
    expect(await ask(openPool(), target)).toMatchObject({ status: "done", text: "Said" });
    expect(proxy.asked).toEqual([`127.0.0.1:${server.port}`]);
  });
});

function chatAt({ url }: Pick<Loopback, "url">): Extract<SummaryTarget, { kind: "wire" }> {
  return { kind: "wire", provider: "acme", api: "chat", baseUrl: `${url}/v1`, credential: mockKey, env: {} };
}

const chatAnswer: Answer = streaming(
  dataOf(
    { choices: [{ index: 0, delta: { content: "Said" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    "[DONE]",
  ),
);

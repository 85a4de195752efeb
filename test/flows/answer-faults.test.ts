import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { serve } from "../providers/loopback.js";
import { addressOf, type AnswerFault, modelOver, openFaulty } from "../support/faulty-proxy.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { mockKey, mockLlm, toolOutputs, wireApis, wireManager } from "../support/wire-apis.js";

const text = "Hello there";
const maxTries = 3;

const answering =
  (status: number, headers: Readonly<Record<string, string>>, body: string): AnswerFault =>
  (response) =>
    void response.writeHead(status, headers).end(body);
const html = `<!DOCTYPE html><html><body>${"<p>Bad gateway</p>".repeat(1_000)}</body></html>`;

/** HTTP answers that are not a model's answer, and the error each one is reported as. */
const hollow: [string, AnswerFault, string][] = [
  ["529", answering(529, {}, '{"error":{"message":"Overloaded"}}'), "overloaded"],
  ["502 with a page of HTML", answering(502, { "content-type": "text/html" }, html), "server"],
  ["200 with nothing", answering(200, { "content-type": "text/event-stream" }, ""), "network"],
  ["200 with a page of HTML", answering(200, { "content-type": "text/html" }, html), "network"],
  ["200 with JSON", answering(200, { "content-type": "application/json" }, "{}"), "network"],
  ["200 with no type", answering(200, {}, "hello"), "network"],
];

/** A server that accepts connections and never sends a byte. */
async function blackHole(): Promise<Server> {
  const server = createServer((socket) => onTestFinished(() => void socket.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

describe.each(wireApis)("over $api", (spoken) => {
  /** Plays a turn whose model is at an address that does not answer; returns how the turn ends. */
  async function turnAt(baseUrl: string, connectTimeoutMs = 10_000) {
    const { manager } = await openManager({ providers: [modelOver(spoken, baseUrl, { connectTimeoutMs })] });
    const { conversation } = await manager.newConversation({ provider: "acme", model: spoken.model });
    const events = new EventLog(conversation);
    await conversation.submit("go");
    const { error } = await events.until("task_complete");
    return { error, retries: events.types().filter((type) => type === "stream_error").length };
  }

  describe("E12 a rate limit", () => {
    test.each([
      ["seconds", 0.05, 50],
      ["a date that is over", "Fri, 20 Nov 2020 10:00:09 GMT", 0],
    ])("in %s delays the next try, and then the turn continues", async (_name, retryAfter, wait_ms) => {
      const limited = { fault: { type: "status" as const, status: 429, retryAfter } };
      const { play, expectNextTaken, events } = await openFaulty(spoken, [limited, { text }, { text: "Fine" }], []);
      expect(await play("go")).toMatchObject({ said: text, retries: ["rate_limit"] });
      expect(events.seen.find(({ msg }) => msg.type === "stream_error")?.msg).toMatchObject({
        attempt: 1,
        max_attempts: 2,
        wait_ms,
      });
      await expectNextTaken("Fine");
    });

    // The rate limit then applies to all conversations of the manager, so the test sends no other request.
    test.each([
      ["an absurd number", "99999999999"],
      ["a date in a thousand years", "Fri, 20 Nov 3026 10:00:09 GMT"],
    ])("of %s waits five minutes at most, and an interrupt ends it at once", async (_name, retryAfter) => {
      const { conversation, events } = await openFaulty(
        spoken,
        [{ fault: { type: "status", status: 429, retryAfter } }, { text: "Fine" }],
        [],
      );
      await conversation.submit("go");
      expect(await events.until("stream_error")).toMatchObject({ wait_ms: 300_000 });
      await conversation.interrupt();
      expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted" });
    });
  });

  test.each(hollow)("E13 %s is retried up to the limit and reported in one short line", async (_name, fault, code) => {
    const replies = [{ text }, { text }, { text }, { text: "Fine" }];
    const { play, expectNextTaken, line } = await openFaulty(spoken, replies, [fault, fault, fault]);
    const turn = await play("go");
    expect(turn).toMatchObject({ failure: code, retries: [code, code], ends: 1, shown: "" });
    expect(turn.message).toMatch(/^acme.{1,200}$/);
    expect(turn.message).not.toMatch(/[<>]/);
    expect(line.requests).toHaveLength(maxTries);
    await expectNextTaken("Fine");
  });

  test("E14 a refusal that repeats the key is reported without the key and not retried", async () => {
    const echo = answering(401, {}, JSON.stringify({ error: { message: `Incorrect API key provided: ${mockKey}` } }));
    const { play, expectNextTaken, line, conversation, events } = await openFaulty(
      spoken,
      [{ text }, { text: "Fine" }],
      [echo],
    );
    expect(await play("go")).toMatchObject({
      failure: "auth",
      message: "acme rejected the API key or login (401): Incorrect API key provided: [key]",
      retries: [],
    });
    expect(line.requests).toHaveLength(1);
    await expectNextTaken("Fine");
    await conversation.flush();
    expect(JSON.stringify(events.seen)).not.toContain(mockKey);
    expect(await readFile(conversation.rolloutPath ?? "", "utf8")).not.toContain(mockKey);
  });

  test.each([301, 302, 307, 308])("E15 a redirect with %i is not followed", async (status) => {
    const other = await serve((response) => void response.end());
    const redirect = answering(status, { location: `${other.url}/v1/elsewhere?key=${mockKey}` }, "");
    const { play, expectNextTaken } = await openFaulty(spoken, [{ text }, { text: "Fine" }], [redirect]);
    const turn = await play("go");
    expect(turn).toMatchObject({ failure: "invalid_request", retries: [] });
    expect(turn.message).toContain(`redirect to 127.0.0.1:${other.port}`);
    expect(turn.message).not.toContain(mockKey);
    expect(other.connections).toBe(0);
    await expectNextTaken("Fine");
  });

  test("E18 a context that stays too long is compacted once, sent once more, and then reported as an error", async () => {
    const overflow = { fault: { type: "overflow" as const } };
    const mock = await mockLlm([
      { text: "A long story" },
      overflow,
      { text: "They talked." },
      overflow,
      { text: "Fine" },
    ]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Tell a story");
    await events.until("task_complete");
    await conversation.submit("Go on");
    expect(await events.until("task_complete")).toMatchObject({ error: { codex_error_info: "context_overflow" } });
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 400, 200, 400]);
    await conversation.submit("Never mind");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Fine" });
  });

  describe("E19 an unreachable server", () => {
    test("refuses the connection", async () => {
      const { error, retries } = await turnAt(addressOf(spoken, "http://127.0.0.1:1"));
      expect({ error, retries }).toEqual({
        error: { codex_error_info: "network", message: "acme: cannot connect to 127.0.0.1:1 (ECONNREFUSED)" },
        retries: 2,
      });
    });

    test("has an unknown host name", async () => {
      const { error, retries } = await turnAt(addressOf(spoken, "http://nowhere.invalid"));
      expect(error).toMatchObject({ codex_error_info: "network" });
      expect(error?.message).toMatch(
        /^acme: cannot resolve the host name of nowhere\.invalid(?::80)? \((?:ENOTFOUND|EAI_AGAIN)\)$/,
      );
      expect(retries).toBe(2);
    });

    test("accepts the connection and sends nothing, not even a TLS handshake", async () => {
      const { port } = (await blackHole()).address() as AddressInfo;
      const { error, retries } = await turnAt(addressOf(spoken, `https://127.0.0.1:${port}`), 100);
      expect(error).toMatchObject({ codex_error_info: "timeout" });
      expect(error?.message).toBe("acme: cannot connect to 127.0.0.1 within 0.1 s");
      expect(retries).toBe(2);
    });
  });
});

const pairs = wireApis.flatMap((first) =>
  wireApis.filter(({ api }) => api !== first.api).map((second) => ({ first, second })),
);

test.each(pairs)(
  "E21 thinking over $first.api is not sent over $second.api, and is sent again after switching back",
  async ({ first, second }) => {
    const secret = "I should look first";
    const mock = await mockLlm([
      { reasoning: secret, text: "Looking.", calls: [{ name: "read_file", arguments: { path: "a" } }] },
      { text: "There is no such file" },
      { reasoning: "another thought", text: "You asked for a" },
      { text: "Still a" },
    ]);
    const hop = async (home: string | undefined, spoken: (typeof wireApis)[number]) =>
      await wireManager(mock, spoken, home === undefined ? {} : { home });
    const before = await hop(undefined, first);
    const { conversation, conversationId } = await before.manager.newConversation({ effort: "high" });
    await conversation.processMessage("What is in a?");
    await before.manager.shutdown();
    const there = await hop(before.home, second);
    const asked = { provider: second.provider, model: second.model };
    await (await there.manager.resumeConversation(conversationId, asked)).processMessage("Which one?");
    await there.manager.shutdown();
    const back = await hop(before.home, first);
    const again = { provider: first.provider, model: first.model };
    await (await back.manager.resumeConversation(conversationId, again)).processMessage("And now?");

    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined, undefined]);
    const [, , away, home] = mock.requests.map(({ body }) => JSON.stringify(body));
    expect(away).not.toMatch(/"signature":|"encrypted_content":"(?!")|I should look/);
    expect(away).toContain("There is no such file");
    expect(home).toContain("You asked for a");
    expect(home).not.toContain("another thought");
    // Chat has no place for thinking.
    expect(home).toContain(first.api === "chat" ? "Looking." : secret);
    for (const request of mock.requests.slice(2)) expect(Object.keys(toolOutputs(request))).toHaveLength(1);
  },
);

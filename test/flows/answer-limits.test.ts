import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";
import { begin, type Loopback, serve } from "../providers/loopback.js";
import { addressOf, modelOver } from "../support/faulty-proxy.js";
import { EventLog, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, calls, type Reply, says, scripted } from "../support/scripted-provider.js";
import { type SpokenApi, wireApis } from "../support/wire-apis.js";

const answerBytes = 20_000;
const stopped = (limit: string, key: string): string =>
  `the turn was stopped at its limit of ${limit}; to allow more: cody config set turnLimits.${key} <number>`;
const answerStopped = stopped("20000 bytes in one answer", "answerBytes");
const word = "lorem ipsum dolor ";

type Fields = Readonly<Record<string, unknown>>;
const named = (event: { readonly type: string } & Fields): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const block = (content_block: object, index = 0): string =>
  named({ type: "content_block_start", index, content_block });
const blockDelta = (delta: object): string => named({ type: "content_block_delta", index: 0, delta });

/** An answer that starts with `begin` and then continues with `next` for ever. */
interface Endless {
  readonly begin?: string;
  readonly next: (count: number) => string;
}

type Kind = "text" | "reasoning" | "arguments" | "items";

const endless: Readonly<Record<SpokenApi["api"], Readonly<Record<Kind, Endless>>>> = {
  responses: {
    text: { next: () => named({ type: "response.output_text.delta", item_id: "m", output_index: 0, delta: word }) },
    reasoning: {
      next: () => named({ type: "response.reasoning_text.delta", item_id: "r", output_index: 0, delta: word }),
    },
    arguments: {
      begin: named({
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "function_call", id: "f", call_id: "c", name: "shell", arguments: "" },
      }),
      next: () => named({ type: "response.function_call_arguments.delta", item_id: "f", output_index: 0, delta: word }),
    },
    items: {
      next: (count) => {
        const item = { ...assistant(word), id: `m${count}`, status: "completed" };
        return named({ type: "response.output_item.done", output_index: count, item });
      },
    },
  },
  chat: {
    text: { next: () => chunk({ content: word }) },
    reasoning: { next: () => chunk({ reasoning_content: word }) },
    arguments: {
      begin: chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "shell", arguments: "" } }] }),
      next: () => chunk({ tool_calls: [{ index: 0, function: { arguments: word } }] }),
    },
    items: {
      next: (index) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: "shell", arguments: "{}" } }] }),
    },
  },
  messages: {
    text: { begin: block({ type: "text" }), next: () => blockDelta({ type: "text_delta", text: word }) },
    reasoning: {
      begin: block({ type: "thinking" }),
      next: () => blockDelta({ type: "thinking_delta", thinking: word }),
    },
    arguments: {
      begin: block({ type: "tool_use", id: "c", name: "shell", input: {} }),
      next: () => blockDelta({ type: "input_json_delta", partial_json: word }),
    },
    items: {
      next: (index) => block({ type: "text", text: word }, index) + named({ type: "content_block_stop", index }),
    },
  },
};

async function writeEndless(response: ServerResponse, { begin: first = "", next }: Endless): Promise<void> {
  begin(response, first);
  for (let count = 0; !response.destroyed; count += 1) {
    response.write(next(count));
    while (response.writableNeedDrain && !response.destroyed) await setImmediate();
  }
}

/** A server whose first answer is endless and whose later answers are these texts. */
async function serveEndless(spoken: SpokenApi, kind: Kind): Promise<Loopback> {
  return await serve(async (response, { body }) => {
    if (body.includes("Never stop")) return await writeEndless(response, endless[spoken.api][kind]);
    begin(response, whole[spoken.api]);
    response.end();
  });
}

const whole: Readonly<Record<SpokenApi["api"], string>> = {
  responses:
    named({ type: "response.output_item.done", output_index: 0, item: { ...assistant("Fine"), id: "m" } }) +
    named({ type: "response.completed", response: {} }),
  chat: `${chunk({ content: "Fine" })}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
  messages:
    block({ type: "text", text: "Fine" }) +
    named({ type: "content_block_stop", index: 0 }) +
    named({ type: "message_delta", delta: { stop_reason: "end_turn" } }) +
    named({ type: "message_stop" }),
};

async function open(provider: Provider, turnLimits: Record<string, number>, config: object = {}) {
  const { manager } = await openManager({ providers: [provider], config: { ...config, turnLimits } });
  const { conversation } = await manager.newConversation({ provider: provider.name, model: "m" });
  return { manager, conversation, events: new EventLog(conversation) };
}

describe.each(wireApis)("over $api", (spoken) => {
  test.each<Kind>(["text", "reasoning", "arguments", "items"])(
    "endless %s fails its turn, and another conversation is answered meanwhile",
    async (kind) => {
      const server = await serveEndless(spoken, kind);
      const { manager, conversation, events } = await open(modelOver(spoken, addressOf(spoken, server.url)), {
        answerBytes,
      });
      const { conversation: other } = await manager.newConversation({ provider: "acme", model: "m" });
      const [, items] = await Promise.all([conversation.submit("Never stop"), other.processMessage("Hello")]);
      expect(items.at(-1)).toMatchObject({ content: [{ text: "Fine" }] });
      expect(await events.until("error")).toMatchObject({ message: answerStopped, codex_error_info: "limit_reached" });
      expect(await events.until("task_complete")).toMatchObject({ error: { message: answerStopped }, saved: true });
      expect(conversation.turn?.text.length ?? 0).toBeLessThanOrEqual(answerBytes);
      expect(conversation.turn?.reasoning.length ?? 0).toBeLessThanOrEqual(answerBytes);
      expect(JSON.stringify(conversation.getHistory()).length).toBeLessThan(2 * answerBytes);
      expect(server.requests).toHaveLength(2);
    },
  );
});

const padding = "x".repeat(1024 * 1024);
const withoutContent: Readonly<Record<SpokenApi["api"], Readonly<Record<string, Endless>>>> = {
  responses: {
    "events of an unknown type": { next: () => named({ type: "response.later_version", padding }) },
    "empty deltas": {
      next: () => named({ type: "response.output_text.delta", item_id: "m", output_index: 0, delta: "", padding }),
    },
  },
  chat: {
    "events of an unknown type": { next: () => chunk({ later_version: padding }) },
    "empty deltas": { next: () => chunk({ content: "", padding }) },
  },
  messages: {
    "events of an unknown type": { next: () => named({ type: "later_version", padding }) },
    "empty deltas": {
      begin: block({ type: "text" }),
      next: () => blockDelta({ type: "text_delta", text: "", padding }),
    },
  },
};

describe.each(wireApis)("over $api", (spoken) => {
  test.each(Object.entries(withoutContent[spoken.api]))("endless %s fail the turn", async (_, answer) => {
    const server = await serve(async (response) => await writeEndless(response, answer));
    const { conversation, events } = await open(modelOver(spoken, addressOf(spoken, server.url)), { answerBytes });
    await conversation.submit("Go");
    const message = "acme: the server sent 67108864 bytes in a row that are not part of an answer";
    expect(await events.until("error")).toMatchObject({ message, codex_error_info: "bad_message" });
    expect(await events.until("task_complete")).toMatchObject({ error: { message }, saved: true });
    expect(server.requests).toHaveLength(1);
  });
});

const unknownItems: Endless = {
  next: (output_index) => {
    const item = { type: "later_version", id: `l${output_index}` };
    return named({ type: "response.output_item.done", output_index, item });
  },
};

test.each(wireApis.filter(({ api }) => api === "responses"))(
  "endless items of an unknown type count as part of the answer over $api",
  async (spoken) => {
    const server = await serve(async (response) => await writeEndless(response, unknownItems));
    const { conversation, events } = await open(modelOver(spoken, addressOf(spoken, server.url)), { answerBytes });
    await conversation.submit("Go");
    expect(await events.until("task_complete")).toMatchObject({ error: { message: answerStopped } });
  },
);

async function* forEver(reply: Reply): AsyncGenerator<ModelEvent> {
  for (;;) for (const event of reply) if (event.type !== "hang") yield event;
}

/** A provider in this process that never ends its answer and records whether it was aborted. */
function endlessProvider(first: Reply, repeated: Reply): Provider & { readonly isStopped: () => boolean } {
  let signal: AbortSignal | undefined;
  return {
    name: "endless",
    isStopped: () => signal?.aborted === true,
    async *stream(_request, given) {
      signal = given;
      for (const event of first) if (event.type !== "hang") yield event;
      yield* forEver(repeated);
    },
  };
}

test("a stopped answer keeps its items and the text of the open message, in history and rollout", async () => {
  const text: ModelEvent = { type: "text_delta", itemId: "b", delta: "ü".repeat(500) };
  const kept: ModelEvent = { type: "item", itemId: "a", item: assistant("Kept") };
  const arrived = "ü".repeat(answerBytes / 2);
  const provider = endlessProvider([kept], [text]);
  const { conversation, events } = await open(provider, { answerBytes });
  await conversation.submit("Never stop");
  expect(await events.until("task_complete")).toMatchObject({
    last_agent_message: arrived,
    error: { message: answerStopped },
  });
  expect(provider.isStopped()).toBe(true);
  expect(conversation.getHistory().slice(1)).toEqual([assistant("Kept"), assistant(arrived)]);
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.flatMap((line) => (line.type === "response_item" ? [line.payload] : [])).slice(1)).toEqual([
    assistant("Kept"),
    assistant(arrived),
  ]);
});

test("a stopped answer keeps the open reasoning as an event, and does not send it back", async () => {
  const kept: ModelEvent[] = [
    { type: "reasoning_delta", itemId: "a", delta: "Done" },
    {
      type: "item",
      itemId: "a",
      item: {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Done" }],
        origin: { api: "chat", model: "m" },
      },
    },
  ];
  const provider = endlessProvider(kept, [{ type: "reasoning_delta", itemId: "b", delta: "r".repeat(1_000) }]);
  const { conversation, events } = await open(provider, { answerBytes });
  await conversation.submit("Never stop");
  await events.until("task_complete");
  const lines = await rolloutLines(conversation.rolloutPath);
  const reasoning = lines.flatMap(({ type, payload }) =>
    type === "event_msg" && payload["type"] === "agent_reasoning" ? [payload] : [],
  );
  expect(reasoning).toMatchObject([
    { text: "Done", item_id: "a" },
    { text: "r".repeat(19_000), item_id: "b" },
  ]);
  expect(conversation.getHistory().filter(({ type }) => type === "reasoning")).toHaveLength(1);
});

test("a call in a stopped answer does not run, and gets an output", async () => {
  const [call] = calls("shell", "c1", { command: ["true"] });
  if (call === undefined) throw new Error("no call");
  const { conversation, events } = await open(
    endlessProvider([call], [{ type: "reasoning_delta", itemId: "r", delta: word }]),
    { answerBytes },
    { sandbox: "danger-full-access" },
  );
  await conversation.submit("Never stop");
  await events.until("task_complete");
  expect(conversation.getHistory().at(-1)).toEqual({
    type: "function_call_output",
    call_id: "c1",
    output: `not finished: ${answerStopped}`,
  });
  expect(events.types()).not.toContain("exec_command_begin");
});

test("all answers of a turn share one byte limit", async () => {
  const replies = Array.from({ length: 20 }, (_, index): Reply => {
    const text: ModelEvent = { type: "text_delta", itemId: "t", delta: "x".repeat(4_000) };
    return [text, ...calls("update_plan", `c${index}`, { plan: [] })];
  });
  const provider = scripted(replies);
  const { conversation, events } = await open(provider, { answerBytes, turnBytes: 10_000 });
  await conversation.submit("go");
  const message = stopped("10000 bytes of answers", "turnBytes");
  expect(await events.until("task_complete")).toMatchObject({ error: { message } });
  expect(provider.requests).toHaveLength(3);
  expect(conversation.turn?.text).toHaveLength(8_000);
});

test("the byte limit starts again with the next turn", async () => {
  const reply = says("x".repeat(9_000));
  const { conversation } = await open(scripted([reply, reply]), { answerBytes, turnBytes: 10_000 });
  await conversation.processMessage("go");
  expect((await conversation.processMessage("again")).at(-1)).toEqual(assistant("x".repeat(9_000)));
});

test("an endless summary is stopped, and the history is kept", async () => {
  const endlessSummary = endlessProvider([], [{ type: "text_delta", itemId: "s", delta: word }]);
  let requests = 0;
  const talk = scripted([says("Hello"), says("Still here")]);
  const provider: Provider = {
    name: "both",
    stream: (request, signal) => ((requests += 1) === 2 ? endlessSummary : talk).stream(request, signal),
  };
  const { conversation, events } = await open(provider, { answerBytes });
  await conversation.processMessage("Hi");
  const history = conversation.getHistory();
  expect(await conversation.compact()).toMatchObject({ status: "kept" });
  expect((await events.until("warning")).message).toBe(
    "Compression failed, conversation may hit limits soon: the summary was stopped at its limit of 20000 bytes; " +
      "to allow more: cody config set turnLimits.answerBytes <number>",
  );
  expect(endlessSummary.isStopped()).toBe(true);
  expect(conversation.getHistory()).toEqual(history);
  expect((await conversation.processMessage("And now?")).at(-1)).toEqual(assistant("Still here"));
});

import { expect, test } from "vitest";
import * as z from "zod";
import type { Config } from "../../src/messages/settings/config.js";
import type { ModelEvent } from "../../src/messages/model.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { openConversation } from "../support/open-conversation.js";
import { calls, callsAll, type Reply, says, scripted } from "../support/scripted-provider.js";

const half = defineTool({
  name: "half",
  description: "Fails for odd numbers",
  parameters: z.strictObject({ n: z.number() }),
  readOnly: true,
  run: ({ n }) => (n % 2 === 0 ? String(n / 2) : { content: `${n} is odd\nno more`, success: false }),
});
const free = defineTool({
  name: "free",
  description: "",
  parameters: z.strictObject({ input: z.string() }),
  readOnly: true,
  freeform: true,
  run: () => {
    throw new Error("never works");
  },
});

const half1 = (callId: string): Reply => calls("half", callId, { n: 1 });
const half2 = (callId: string): Reply => calls("half", callId, { n: 2 });
const both = (id: string): Reply =>
  callsAll(
    ...[1, 3, 1].map((n, index) => ({ name: "half", callId: `${id}_${index}`, arguments: JSON.stringify({ n }) })),
  );
const cut = (callId: string): Reply => [
  ...callsAll({ name: "half", callId, arguments: `{"n":${callId.slice(1)}` }).slice(0, -1),
  { type: "done", finishReason: "length" },
];

async function play(replies: readonly Reply[], turnLimits: Config["turnLimits"] = {}) {
  const provider = scripted(replies);
  const opened = await openConversation({ provider, tools: [half, free], config: { turnLimits } });
  await opened.conversation.submit("go");
  const end = await opened.events.until("task_complete");
  return { ...opened, provider, end };
}

function stopped(name: string, reason: string, count = 3): string {
  return (
    `the turn was stopped because ${name} failed ${count} times in a row with the same arguments: ${reason}; ` +
    "to allow more: cody config set turnLimits.identicalFailures <number>, 0 for no limit"
  );
}

function repeated(reply: (callId: string) => Reply, count = 20): Reply[] {
  return Array.from({ length: count }, (_, index) => reply(`c${index}`));
}

function customCall(callId: string): Reply {
  const item = { type: "custom_tool_call", name: "free", input: "x", call_id: callId } as const;
  const event: ModelEvent = { type: "item", itemId: callId, item };
  return [event, { type: "done", finishReason: "tool_calls" }];
}

test.each([
  { what: "a tool that fails", reply: half1, message: stopped("half", "1 is odd") },
  {
    what: "arguments that do not fit",
    reply: (id: string) => calls("half", id, { n: "one" }),
    message: stopped("half", "the arguments of half: n: must be a number; nothing was run"),
  },
  {
    what: "arguments that are no JSON",
    reply: (id: string) => callsAll({ name: "half", callId: id, arguments: "{n" }),
    message: stopped("half", "the arguments of half are not a JSON object; nothing was run"),
  },
  {
    what: "an unknown tool",
    reply: (id: string) => calls("frob", id),
    message: stopped("frob", "unknown tool frob"),
  },
  {
    what: "a freeform tool that throws",
    reply: customCall,
    message: stopped("free", "free failed: never works"),
  },
])("$what three times in a row with the same arguments ends the turn", async ({ reply, message }) => {
  const { provider, end, events, conversation } = await play(repeated(reply));
  expect(events.seen.map(({ msg }) => msg)).toContainEqual({
    type: "error",
    message,
    codex_error_info: "limit_reached",
  });
  expect(end).toMatchObject({ error: { message, codex_error_info: "limit_reached" } });
  expect(provider.requests).toHaveLength(3);
  expect(conversation.getHistory().at(-1)).toMatchObject({ success: false });
});

test("the limit can be changed, and switched off", async () => {
  const five = await play(repeated(half1), { identicalFailures: 5 });
  expect(five.end.error?.message).toBe(stopped("half", "1 is odd", 5));
  expect(five.provider.requests).toHaveLength(5);
  const off = await play([...repeated(half1), says("I give up")], { identicalFailures: 0 });
  expect(off.end).toMatchObject({ last_agent_message: "I give up" });
});

test("a successful call, other arguments, or a new turn restart the count", async () => {
  const { conversation, events, end } = await play([
    half1("a"),
    half1("b"),
    half2("c"),
    half1("d"),
    half1("e"),
    calls("half", "f", { n: 3 }),
    calls("half", "g", { n: 5 }),
    says("Enough"),
    half1("h"),
    says("Done"),
  ]);
  expect(end).toMatchObject({ last_agent_message: "Enough" });
  await conversation.submit("again");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Done" });
});

const looping = (id: string): Reply =>
  callsAll(...[1, 2].map((n) => ({ name: "half", callId: `${id}_${n}`, arguments: JSON.stringify({ n }) })));

test("the same successful call beside a failing one does not restart the count", async () => {
  const { end, provider } = await play(Array.from({ length: 9 }, (_, index) => looping(`c${index}`)));
  expect(end.error?.message).toBe(stopped("half", "1 is odd"));
  expect(provider.requests).toHaveLength(4);
});

test("alternating failures are counted, and equal failures in one answer count once", async () => {
  const { provider, end } = await play(repeated(both));
  expect(end.error?.message).toBe(stopped("half", "1 is odd"));
  expect(provider.requests).toHaveLength(3);
});

test("calls with different invalid JSON arguments are different calls", async () => {
  const broken = ["{a", "{b", "{c", "{d"].map((text) => callsAll({ name: "half", callId: text, arguments: text }));
  expect((await play([...broken, says("Sorry")])).end).toMatchObject({ last_agent_message: "Sorry" });
});

test("calls of one tool that are cut off at the output limit count as the same call", async () => {
  const { provider, end } = await play(repeated(cut));
  expect(end.error?.message).toContain("half failed 3 times in a row");
  expect(provider.requests).toHaveLength(3);
});

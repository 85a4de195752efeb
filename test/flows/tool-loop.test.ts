import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { Deferred } from "../../src/base/time/waiting.js";
import { ConversationManager } from "../../src/manager.js";
import type { WrittenConfig } from "../../src/config/files/written-config.js";
import { defineTool } from "../../src/tools/define-tool.js";
import type { Tool } from "../../src/tools/tool.js";
import { openConversation, openManager } from "../support/open-conversation.js";
import { calls, callsAll, fails, type Reply, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const fullAccess: WrittenConfig = { sandbox: "danger-full-access" };

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  parameters: z.strictObject({ a: z.number(), b: z.number().default(1) }),
  readOnly: true,
  run: ({ a, b }) => String(a + b),
});

function withoutArguments(name: string, run: () => string | Promise<string>): Tool {
  return defineTool({ name, description: "", parameters: z.strictObject({}), run });
}

async function open(replies: Iterable<Reply>, tools: readonly Tool[], config: WrittenConfig = fullAccess) {
  const provider = scripted(replies);
  return { provider, ...(await openConversation({ provider, tools, config })) };
}

test("the model gets the result of its call, and the turn continues until it makes no more calls", async () => {
  const { provider, conversation, events } = await open(
    [calls("add", "c1", { a: 1 }), calls("add", "c2", { a: 40, b: 2 }), says("42")],
    [add],
  );
  await conversation.submit("add");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "42", saved: true });
  expect(provider.requests[0]?.tools.find(({ name }) => name === "add")).toEqual({
    name: "add",
    description: "Adds two numbers",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { default: 1, type: "number" } },
      required: ["a"],
      additionalProperties: false,
    },
  });
  expect(provider.requests[2]?.input.slice(-4)).toEqual([
    { type: "function_call", name: "add", arguments: '{"a":1}', call_id: "c1" },
    { type: "function_call_output", call_id: "c1", output: "2" },
    { type: "function_call", name: "add", arguments: '{"a":40,"b":2}', call_id: "c2" },
    { type: "function_call_output", call_id: "c2", output: "42" },
  ]);
});

test("read-only calls run in parallel, and others alone and in order", async () => {
  const log: string[] = [];
  const together = new Deferred<void>();
  let running = 0;
  const look = defineTool({
    name: "look",
    description: "",
    parameters: z.strictObject({ n: z.number() }),
    readOnly: true,
    run: async ({ n }) => {
      log.push(`look ${n}`);
      running += 1;
      if (running === 2) together.resolve();
      // Resolves only when both calls are running.
      await together.promise;
      return "seen";
    },
  });
  const change = defineTool({
    name: "change",
    description: "",
    parameters: z.strictObject({ n: z.number() }),
    run: async ({ n }) => {
      log.push(`begin ${n}`);
      await new Promise(setImmediate);
      log.push(`end ${n}`);
      return "changed";
    },
  });
  const { conversation, events } = await open(
    [
      callsAll(
        { name: "look", callId: "a", arguments: '{"n":1}' },
        { name: "look", callId: "b", arguments: '{"n":2}' },
        { name: "change", callId: "c", arguments: '{"n":3}' },
        { name: "change", callId: "d", arguments: '{"n":4}' },
        { name: "look", callId: "e", arguments: '{"n":5}' },
      ),
      says("done"),
    ],
    [look, change],
  );
  await conversation.submit("work");
  await events.until("task_complete");
  expect(log).toEqual(["look 1", "look 2", "begin 3", "end 3", "begin 4", "end 4", "look 5"]);
});

test.each([
  { text: "{broken", output: "the arguments of add are not a JSON object; nothing was run", stored: "{}" },
  { text: "[1]", output: "the arguments of add are not a JSON object; nothing was run", stored: "{}" },
  { text: "", output: expect.stringContaining("the arguments of add: a: "), stored: "{}" },
  {
    text: '{"a":"one"}',
    output: "the arguments of add: a: must be a number; nothing was run",
    stored: '{"a":"one"}',
  },
  {
    text: '{"a":1,"sandbox":"danger-full-access"}',
    output: 'the arguments of add: unknown key "sandbox"; nothing was run',
    stored: '{"a":1,"sandbox":"danger-full-access"}',
  },
])("invalid arguments $text are answered as an error and stored as a complete pair", async (bad) => {
  const { provider, conversation, events } = await open(
    [callsAll({ name: "add", callId: "c1", arguments: bad.text }), says("sorry")],
    [add],
  );
  await conversation.submit("add");
  await events.until("task_complete");
  expect(provider.requests[1]?.input.slice(-2)).toEqual([
    { type: "function_call", name: "add", arguments: bad.stored, call_id: "c1" },
    { type: "function_call_output", call_id: "c1", output: bad.output, success: false },
  ]);
});

test("a reused call id gets a new one, and of two equal ids in one answer only the first runs", async () => {
  const { provider, conversation, events } = await open(
    [
      calls("add", "call_0", { a: 1 }),
      callsAll(
        { name: "add", callId: "call_0", arguments: '{"a":2}' },
        { name: "add", callId: "call_0", arguments: '{"a":3}' },
      ),
      says("done"),
    ],
    [add],
  );
  await conversation.submit("add");
  await events.until("task_complete");
  const outputs = provider.requests[2]?.input.filter(({ type }) => type === "function_call_output");
  expect(outputs).toEqual([
    { type: "function_call_output", call_id: "call_0", output: "2" },
    {
      type: "function_call_output",
      call_id: "call_0_3",
      output: "duplicate call id in one answer; nothing was run",
      success: false,
    },
    { type: "function_call_output", call_id: "call_0_2", output: "3" },
  ]);
});

test("a tool that throws, rejects or returns an invalid value is an error for the model and nothing else", async () => {
  const { provider, conversation, events } = await open(
    [
      callsAll(
        { name: "throws", callId: "a", arguments: "{}" },
        { name: "rejects", callId: "b", arguments: "{}" },
        { name: "rubbish", callId: "c", arguments: "{}" },
      ),
      says("done"),
    ],
    [
      withoutArguments("throws", () => {
        throw new Error("no luck");
      }),
      withoutArguments("rejects", () => Promise.reject(new Error("late"))),
      withoutArguments("rubbish", () => 42 as unknown as string),
    ],
  );
  await conversation.submit("try");
  await events.until("task_complete");
  const outputs = provider.requests[1]?.input.flatMap((item) =>
    item.type === "function_call_output" ? [item.output] : [],
  );
  expect(outputs).toEqual(["throws failed: no luck", "rejects failed: late", "rubbish failed: it returned no text"]);
});

test("the number of calls that run from one answer is limited", async () => {
  const all = Array.from({ length: 1_000 }, (_, index) => ({ name: "add", callId: `c${index}`, arguments: '{"a":1}' }));
  const { provider, conversation, events } = await open([callsAll(...all), says("done")], [add]);
  await conversation.submit("go");
  await events.until("task_complete");
  const outputs = provider.requests[1]?.input.flatMap((item) =>
    item.type === "function_call_output" ? [item.output] : [],
  );
  expect(outputs?.filter((output) => output === "2")).toHaveLength(128);
  expect(
    outputs?.filter((output) => output === "more than 128 calls in one answer; this one was not run"),
  ).toHaveLength(872);
});

test("while one of two calls still runs, the turn waits for a tool's result", async () => {
  const quick = new Deferred<void>();
  const slow = new Deferred<void>();
  const wait = defineTool({
    name: "wait",
    description: "",
    parameters: z.strictObject({ quick: z.boolean() }),
    readOnly: true,
    run: async (args) => {
      await (args.quick ? quick : slow).promise;
      return "waited";
    },
  });
  const started = new Deferred<void>();
  const late = defineTool({
    name: "late",
    description: "",
    parameters: z.strictObject({}),
    readOnly: true,
    run: async () => {
      started.resolve();
      await quick.promise;
      return "late";
    },
  });
  const { conversation, events } = await open(
    [
      callsAll(
        { name: "wait", callId: "q", arguments: '{"quick":true}' },
        { name: "wait", callId: "s", arguments: '{"quick":false}' },
        { name: "late", callId: "l", arguments: "{}" },
      ),
      says("done"),
    ],
    [wait, late],
  );
  await conversation.submit("go");
  await started.promise;
  quick.resolve();
  await new Promise(setImmediate);
  expect(conversation.turn?.status).toEqual({ status: "awaiting_tool_result", callId: "s" });
  slow.resolve();
  await events.until("task_complete");
});

test.each<[unknown, string]>([
  [z.date(), "Date cannot be represented in JSON Schema"],
  [z.string(), "models only accept an object"],
  [z.union([z.strictObject({}), z.strictObject({ a: z.string() })]), "models only accept an object"],
  [{ type: "object" }, "they are not a zod 4 schema"],
  [undefined, "they are not a zod 4 schema"],
])("a tool that cannot be described to a model is refused when the manager is created", async (parameters, reason) => {
  const valid = defineTool({ name: "when", description: "", parameters: z.object({}), run: () => "now" });
  const when = { ...valid, parameters } as typeof valid;
  await expect(openManager({ tools: [when] })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: `tool when: its parameters cannot be sent to a model: ${reason}`,
  });
});

test("custom tools with the same name, and a provider that cannot be selected, are refused", async () => {
  const tool = defineTool({ name: "when", description: "", parameters: z.strictObject({}), run: () => "now" });
  await expect(openManager({ tools: [tool, tool] })).rejects.toThrow("tool when: there are two tools with this name");
  const provider = { ...scripted([]), name: "My Model" };
  expect(() => new ConversationManager({ providers: [provider] })).toThrow("the name of a provider: ");
});

test("an output too long for the model is truncated in the middle", async () => {
  const long = defineTool({
    name: "long",
    description: "",
    parameters: z.strictObject({}),
    readOnly: true,
    run: () => `begin${"x".repeat(1_000_000)}end`,
  });
  const { provider, conversation, events } = await open([calls("long", "c1"), says("done")], [long]);
  await conversation.submit("go");
  await events.until("task_complete");
  const output = provider.requests[1]?.input.at(-1);
  const text = output?.type === "function_call_output" ? JSON.stringify(output.output) : "";
  expect(text.length).toBeLessThan(70_000);
  expect(text).toMatch(/^"beginx+…\d+ tokens truncated…x+end"$/);
});

test("an interrupt stops the tool, ends the turn, and leaves no call without output", async () => {
  const stopped = new Deferred<void>();
  const started = new Deferred<void>();
  const wait = defineTool({
    name: "wait",
    description: "",
    parameters: z.strictObject({}),
    run: async (_args, { signal }) => {
      signal.addEventListener("abort", () => stopped.resolve());
      started.resolve();
      await stopped.promise;
      return "stopped half-way";
    },
  });
  const { conversation, events } = await open(
    [
      callsAll({ name: "wait", callId: "a", arguments: "{}" }, { name: "wait", callId: "b", arguments: "{}" }),
      says("never said"),
    ],
    [wait],
  );
  await conversation.submit("wait");
  await started.promise;
  expect(conversation.turn?.status).toEqual({ status: "awaiting_tool_result", callId: "a" });
  await conversation.interrupt();
  expect(await events.until("turn_aborted")).toMatchObject({ reason: "interrupted", saved: true });
  expect(conversation.turn?.status).toEqual({ status: "cancelled" });
  expect(conversation.getHistory().slice(-3)).toMatchObject([
    { type: "function_call_output", call_id: "a", output: "stopped half-way" },
    { type: "function_call_output", call_id: "b", output: "aborted by the user" },
    { role: "user" },
  ]);
});

test("a tool that ignores the interrupt does not delay the end of the turn", async () => {
  const started = new Deferred<void>();
  const deaf = defineTool({
    name: "deaf",
    description: "",
    parameters: z.strictObject({}),
    run: () => {
      started.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  const { conversation, events } = await open([calls("deaf", "c1"), says("after all")], [deaf]);
  await conversation.submit("go");
  await started.promise;
  await conversation.interrupt();
  const message = "deaf did not stop when cancelled; it may still be running";
  expect(await events.until("warning")).toEqual({ type: "warning", message });
  await events.until("turn_aborted");
  expect(conversation.getHistory()).toContainEqual({
    type: "function_call_output",
    call_id: "c1",
    output: message,
    success: false,
  });
  await conversation.submit("again");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "after all" });
});

test("calls of an answer that broke off are closed and not run", async () => {
  let runs = 0;
  const effect = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({}),
    run: () => String((runs += 1)),
  });
  const broken = [...calls("effect", "c1").slice(0, 1), ...fails("network", true)];
  const { conversation, events } = await open([broken], [effect]);
  await conversation.submit("go");
  expect(await events.until("task_complete")).toMatchObject({ error: { codex_error_info: "network" } });
  expect(runs).toBe(0);
  expect(conversation.getHistory().at(-1)).toEqual({
    type: "function_call_output",
    call_id: "c1",
    output: "not finished: the model failed: network",
  });
});

test.each([
  {
    turnLimits: { steps: 3 },
    message: "the turn was stopped at its limit of 3 steps; to allow more: cody config set turnLimits.steps <number>",
    requests: 3,
  },
  {
    turnLimits: { tokens: 30 },
    message:
      "the turn was stopped at its limit of 30 tokens; to allow more: cody config set turnLimits.tokens <number>",
    requests: 2,
  },
])("a turn stops at its limit $turnLimits and reports it", async ({ turnLimits, message, requests }) => {
  const endless = Array.from({ length: 100 }, (_, index) => calls("add", `c${index}`, { a: index }));
  const { provider, conversation, events } = await open(endless, [add], { turnLimits });
  await conversation.submit("for ever");
  expect(await events.until("error")).toEqual({ type: "error", message, codex_error_info: "limit_reached" });
  expect(await events.until("task_complete")).toMatchObject({ error: { message } });
  expect(conversation.turn?.status).toEqual({ status: "failed", error: message });
  expect(provider.requests).toHaveLength(requests);
});

test("the turn's time limit stops a hanging tool and a hanging model", async () => {
  const hang = defineTool({
    name: "hang",
    description: "",
    parameters: z.strictObject({}),
    run: (_args, { signal }) =>
      new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
  });
  const config: WrittenConfig = { ...fullAccess, turnLimits: { seconds: 0.5 } };
  const { conversation, events } = await open([calls("hang", "c1"), [{ type: "hang" }]], [hang], config);
  for (const text of ["a tool", "a model"]) {
    await conversation.submit(text);
    expect(await events.until("task_complete")).toMatchObject({
      error: {
        message:
          "the turn was stopped at its limit of 0.5 seconds of work; to allow more: cody config set turnLimits.seconds <number>",
      },
    });
  }
  expect(conversation.getHistory()[2]).toEqual({
    type: "function_call_output",
    call_id: "c1",
    output: "stopped",
  });
});

test("a call is on disk before it takes effect", async () => {
  const seen: string[] = [];
  const effect = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({}),
    run: () => {
      // Read the file at once: a moment later everything would be there anyway.
      seen.push(readFileSync(conversation.rolloutPath ?? "", "utf8"));
      return "done";
    },
  });
  const { conversation, events } = await open([calls("effect", "c1"), says("done")], [effect]);
  await conversation.submit("go");
  await events.until("task_complete");
  expect(seen).toHaveLength(1);
  expect(seen[0]).toContain('"function_call"');
});

test("a call that cannot be saved is not run", async () => {
  let runs = 0;
  const effect = defineTool({
    name: "effect",
    description: "",
    parameters: z.strictObject({}),
    run: () => String((runs += 1)),
  });
  const provider = scripted([calls("effect", "c1"), says("a pity")]);
  const { conversation, events } = await openConversation({
    provider,
    tools: [effect],
    config: { ...fullAccess, persistence: { directory: "/dev/null/nowhere" } },
  });
  await conversation.submit("go");
  await events.until("task_complete");
  expect(runs).toBe(0);
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({
    output: expect.stringMatching(/^effect was not run: the call could not be saved: /),
  });
});

test("tools cannot read or write cody's private files, even with full access", async () => {
  const home = await temporaryFolder();
  const path = join(home, "tokens.json");
  writeFileSync(path, "canary");
  const provider = scripted([
    calls("read_file", "c1", { path }),
    calls("write_file", "c2", { path, content: "" }),
    says("no"),
  ]);
  const { conversation } = await openConversation({ provider, home, config: fullAccess });
  await conversation.processMessage("read it");
  const said = JSON.stringify(provider.requests);
  expect(said.split("tools cannot access").length).toBeGreaterThan(2);
  expect([said.includes("canary"), readFileSync(path, "utf8")]).toEqual([false, "canary"]);
});

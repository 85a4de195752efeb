import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/tools/define-tool.js";
import { EventLog, openConversation } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { type Reply, says, scripted } from "../support/scripted-provider.js";
import { mockLlm, toolOutputs, wireApis, wireManager } from "../support/wire-apis.js";

const warning = {
  type: "warning",
  message:
    "The model's answer was cut off at its output limit and is not complete. Ask it to continue, or ask for less at once.",
};

describe.each(wireApis)("over $api", (spoken) => {
  test("an answer cut off at the output limit is stored, and reported as truncated", async () => {
    const mock = await mockLlm([{ text: "Once upon a", finish: "length" }, { text: "time" }]);
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Tell a story");
    expect(await events.until("task_complete")).toMatchObject({
      last_agent_message: "Once upon a",
      truncated: true,
      saved: true,
    });
    expect(events.seen.map(({ msg }) => msg)).toContainEqual(warning);
    const payloads = (await rolloutLines(conversation.rolloutPath)).map(({ payload }) => payload);
    expect(payloads).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ content: [{ type: "output_text", text: "Once upon a" }] })]),
    );
    expect(payloads.at(-1)).toMatchObject({ type: "task_complete", truncated: true });
    await conversation.submit("Continue");
    expect(await events.until("task_complete")).not.toHaveProperty("truncated");
    expect(JSON.stringify(mock.requests[1]?.body)).toContain("Once upon a");
  });

  test("a call cut off at the output limit does not run, and a whole call before it does", async () => {
    const whole = { id: "call_1", name: "write_file", arguments: { path: "one.txt", content: "1" } };
    const half = { id: "call_2", name: "write_file", arguments: '{"path":"two.txt","content":"2' };
    const mock = await mockLlm([{ calls: [whole, half], finish: "length" }, { text: "Done" }]);
    const { provider, api, model } = spoken;
    const config = { provider, api, model, sandbox: "danger-full-access" } as const;
    const { manager } = await wireManager(mock, spoken, { config });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Write two files");
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Done" });
    expect(events.seen.map(({ msg }) => msg)).toContainEqual(warning);
    const { cwd } = conversation.settings;
    expect(await readFile(join(cwd, "one.txt"), "utf8")).toBe("1");
    await expect(readFile(join(cwd, "two.txt"))).rejects.toThrow("ENOENT");
    expect(toolOutputs(mock.requests[1] ?? { body: {} })).toHaveProperty("call_1");
  });
});

const note = defineTool({
  name: "note",
  description: "",
  parameters: z.strictObject({ input: z.string() }),
  freeform: true,
  run: ({ input }) => input,
});
const done: Reply = [{ type: "done", finishReason: "length" }];

test("a freeform call at the end of a truncated answer does not run, because its input may be incomplete", async () => {
  const item = { type: "custom_tool_call", name: "note", input: "half", call_id: "c1" } as const;
  const provider = scripted([[{ type: "item", itemId: "i", item }, ...done], says("Again")]);
  const config = { sandbox: "danger-full-access" } as const;
  const { conversation, events } = await openConversation({ provider, tools: [note], config });
  await conversation.submit("Go");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Again" });
  expect(provider.requests[1]?.input.at(-1)).toEqual({
    type: "custom_tool_call_output",
    call_id: "c1",
    output:
      "the answer reached the model's output limit before the call of note was complete; nothing was run. Make it shorter, or split it into several calls",
    success: false,
  });
});

test("a call whose arguments are missing at the output limit does not run", async () => {
  let runs = 0;
  const wait = defineTool({
    name: "wait",
    description: "",
    parameters: z.strictObject({ seconds: z.number().optional() }),
    readOnly: true,
    run: () => String((runs += 1)),
  });
  const item = { type: "function_call", name: "wait", arguments: "", call_id: "c1" } as const;
  const provider = scripted([[{ type: "item", itemId: "i", item }, ...done], says("Again")]);
  const { conversation, events } = await openConversation({ provider, tools: [wait] });
  await conversation.submit("Go");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Again" });
  expect(runs).toBe(0);
});

test("an answer that was cut off before its first text is reported too", async () => {
  const { conversation, events } = await openConversation({ provider: scripted([done]) });
  await conversation.submit("Think");
  expect(await events.until("warning")).toEqual(warning);
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: null, truncated: true });
});

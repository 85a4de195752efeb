import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { EventMsg } from "../../src/messages/event.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { EventLog, openConversation } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { mockLlm, type SpokenApi, wireApis, wireManager } from "../support/wire-apis.js";

/** The events of tool calls in order, with the deltas of each call joined, by the name of the call. */
function callEvents(msgs: readonly EventMsg[]): string[] {
  const names = new Map<string, string>();
  const told: string[] = [];
  for (const msg of msgs) {
    if (msg.type === "tool_call_start") {
      names.set(msg.item_id, msg.name);
      told.push(`start ${msg.name} ${msg.call_id}`, `delta ${msg.name} `);
    } else if (msg.type === "tool_call_delta") {
      const begun = `delta ${names.get(msg.item_id)} `;
      const last = told.findLastIndex((text) => text.startsWith(begun));
      told[last] += msg.delta;
    } else if (msg.type === "tool_call_end") {
      told.push(`end ${msg.name} ${msg.call_id}${msg.incomplete === true ? " incomplete" : ""}`);
    } else if (msg.type === "raw_response_item") {
      const { type } = msg.item as { type: string };
      if (type === "function_call" || type === "custom_tool_call") told.push("item");
    }
  }
  return told;
}

async function play(spoken: SpokenApi, replies: Parameters<typeof mockLlm>[0]) {
  const mock = await mockLlm(replies);
  const { manager } = await wireManager(mock, spoken);
  const { conversation } = await manager.newConversation();
  const events = new EventLog(conversation);
  await conversation.submit("Go");
  await events.until("task_complete");
  return { mock, conversation, events, msgs: events.seen.map(({ msg }) => msg) };
}

const list = { id: "call_1", name: "list_files", arguments: { path: "." } };
const read = { id: "call_2", name: "read_file", arguments: { path: 'no "such" file' } };

describe.each(wireApis)("over $api", (spoken) => {
  test("the start, argument deltas and end of a call are events, and none of them is stored", async () => {
    const { conversation, msgs } = await play(spoken, [{ text: "Look", calls: [list, read] }, { text: "Done" }]);
    const told = callEvents(msgs);
    const ofCall = (name: string): string[] => told.filter((text) => text.includes(name));
    expect(ofCall("list_files")).toEqual([
      "start list_files call_1",
      'delta list_files {"path":"."}',
      "end list_files call_1",
    ]);
    expect(ofCall("read_file")).toEqual([
      "start read_file call_2",
      'delta read_file {"path":"no \\"such\\" file"}',
      "end read_file call_2",
    ]);
    expect(msgs.filter(({ type }) => type === "tool_call_delta").length).toBeGreaterThan(1);
    // A call's end event comes right before its item enters the history.
    expect(told.filter((text) => /^(?:end|item)/.test(text)).map((text) => text.slice(0, 4))).toEqual([
      "end ",
      "item",
      "end ",
      "item",
    ]);
    expect(JSON.stringify(await rolloutLines(conversation.rolloutPath))).not.toMatch(/tool_call_(?:start|delta|end)/);
  });

  test("an answer that breaks off in a call is retried, and its call starts again", async () => {
    const fault = { type: "cut" } as const;
    const { mock, msgs } = await play(spoken, [{ calls: [list], fault }, { calls: [list] }, { text: "Done" }]);
    const count = (wanted: string): number => msgs.filter(({ type }) => type === wanted).length;
    // Over Messages and Responses the call was complete before the answer was cut, and a complete item is not retried.
    const isAskedAgain = spoken.api === "chat";
    expect(mock.requests).toHaveLength(isAskedAgain ? 3 : 1);
    expect(count("stream_error")).toBe(isAskedAgain ? 1 : 0);
    expect(count("tool_call_start")).toBe(isAskedAgain ? 2 : 1);
    expect(count("tool_call_end")).toBe(1);
  });
});

test.each(wireApis)(
  "a call that is cut off at the output limit over $api ends as incomplete, and is not run",
  async (spoken) => {
    const half = { id: "call_1", name: "list_files", arguments: '{"path":"' };
    const { msgs } = await play(spoken, [{ calls: [half], finish: "length" }, { text: "Done" }]);
    expect(callEvents(msgs).filter((text) => text !== "item")).toEqual([
      "start list_files call_1",
      'delta list_files {"path":"',
      "end list_files call_1 incomplete",
    ]);
    expect(msgs.map(({ type }) => type)).not.toContain("exec_command_begin");
    expect(msgs.at(-1)).toMatchObject({ type: "task_complete" });
  },
);

test("a freeform call over Responses reports its input", async () => {
  const [responses] = wireApis;
  if (responses === undefined) throw new Error("no wire API");
  const patch = { id: "call_1", name: "apply_patch", input: "*** Begin Patch\n*** End Patch" };
  const { msgs } = await play(responses, [{ calls: [patch] }, { text: "Done" }]);
  expect(callEvents(msgs)).toEqual([
    "start apply_patch call_1",
    "delta apply_patch *** Begin Patch\n*** End Patch",
    "end apply_patch call_1",
    "item",
  ]);
});

test("a call that arrives in one piece has the same events", async () => {
  const add = defineTool({
    name: "add",
    description: "",
    parameters: z.strictObject({ a: z.number() }),
    readOnly: true,
    run: ({ a }) => String(a),
  });
  const provider = scripted([calls("add", "c1", { a: 1 }), says("1")]);
  const { conversation, events } = await openConversation({ provider, tools: [add] });
  await conversation.submit("add");
  await events.until("task_complete");
  expect(callEvents(events.seen.map(({ msg }) => msg))).toEqual([
    "start add c1",
    'delta add {"a":1}',
    "end add c1",
    "item",
  ]);
});

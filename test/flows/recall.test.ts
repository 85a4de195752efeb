import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { recall } from "../../src/tools/recall.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { assistant, calls, says, scripted, user } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const id = "conv_0197a000-0000-7000-8000-000000000001";
const timestamp = "2026-11-16T00:00:00.000Z";
const summary: ResponseItem = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "Summary of earlier conversation:\n\nwe talked about ports" }],
  summary: true,
};

test("after a compaction the model is offered recall, and finds what was compacted away", async () => {
  const provider = scripted([calls("recall", "call_1", { query: "port staging" }), says("It is 4711.")]);
  const { manager } = await openManager({ home: await compactedHome(), providers: [provider] });
  const conversation = await manager.resumeConversation(id);
  const events = new EventLog(conversation);
  await conversation.submit("Which port has staging?");
  await events.until("task_complete");
  const [first, second] = provider.requests;
  expect(first?.tools?.map(({ name }) => name)).toContain("recall");
  expect(JSON.stringify(first?.input)).not.toContain("4711");
  expect(second?.input.at(-1)).toEqual({
    type: "function_call_output",
    call_id: "call_1",
    output: ["[1] turn 1, assistant:\nThe port of staging is 4711.", "[2] turn 1, user:\nRemember the ports."].join(
      "\n\n",
    ),
  });
});

test("recall in an unsaved conversation answers that the compacted part is gone", async () => {
  const provider = scripted([calls("recall", "call_1", { query: "staging" }), says("I do not know.")]);
  const { manager } = await openManager({
    home: await compactedHome(),
    config: { persistence: { enabled: false } },
    providers: [provider],
  });
  const conversation = await manager.resumeConversation(id);
  const events = new EventLog(conversation);
  await conversation.submit("Which port has staging?");
  await events.until("task_complete");
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({
    output: "This conversation is not saved: the compacted part is gone.",
  });
});

test("recall is not offered before the first compaction", async () => {
  const provider = scripted([says("Hello")]);
  const { conversation, events } = await openConversation({ provider });
  await conversation.submit("Hi");
  await events.until("task_complete");
  expect(provider.requests[0]?.tools?.map(({ name }) => name)).not.toContain("recall");
});

test("a custom tool named recall replaces the built-in one", async () => {
  const provider = scripted([says("Hello")]);
  const { parameters, description } = recall;
  const own = defineTool({ name: "recall", description, parameters, run: () => "mine" });
  const { conversation, events } = await openConversation({ provider, tools: [own] });
  await conversation.submit("Hi");
  await events.until("task_complete");
  expect(provider.requests[0]?.tools?.map(({ name }) => name)).toContain("recall");
});

/** A home with one conversation, whose first turn was compacted away. */
async function compactedHome(): Promise<string> {
  const home = await temporaryFolder();
  const folder = join(home, "conversations");
  await mkdir(folder, { recursive: true });
  const lines = [
    {
      type: "session_meta",
      metadata: { provider: "scripted", model: "scripted", format: 1 },
      payload: { id, timestamp, cwd: home, originator: "cody", cli_version: "0.1.0", source: "cli" },
    },
    ...[user("Remember the ports."), assistant("The port of staging is 4711.")].map(itemLine),
    { type: "compacted", payload: { message: "we talked about ports", replacement_history: [summary] } },
    ...[user("Thanks."), assistant("You are welcome.")].map(itemLine),
  ];
  const text = lines.map((line) => `${JSON.stringify({ timestamp, ...line })}\n`).join("");
  await writeFile(join(folder, `${id}.jsonl`), text);
  return home;
}

function itemLine(payload: ResponseItem): object {
  return { type: "response_item", payload };
}

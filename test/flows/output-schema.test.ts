import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { OutputSchema } from "../../src/messages/output-schema.js";
import { messageText, type ResponseItem } from "../../src/messages/response-item.js";
import type { TurnContext } from "../../src/messages/turn-context.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { callsAll, says, scripted } from "../support/scripted-provider.js";
import { mockLlm, wireApis, wireManager } from "../support/wire-apis.js";

const schema: OutputSchema = {
  type: "object",
  properties: {
    answer: { type: "string" },
    sure: { type: "boolean" },
    steps: { type: "array", items: { type: "string" }, minItems: 1 },
    count: { type: "integer", minimum: 0 },
    mood: { enum: ["good", "bad"] },
  },
  required: ["answer", "sure", "steps", "count", "mood"],
  additionalProperties: false,
};

/** Where each API's request carries the output schema. */
const places: Readonly<Record<string, object>> = {
  responses: { text: { format: { type: "json_schema", name: "cody_output_schema", strict: true, schema } } },
  chat: {
    response_format: { type: "json_schema", json_schema: { name: "cody_output_schema", strict: true, schema } },
  },
  messages: {
    output_config: {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { answer: { type: "string" }, count: { type: "integer", description: "{minimum: 0}" } },
          additionalProperties: false,
        },
      },
    },
  },
};

function lastText(items: readonly ResponseItem[]): string {
  const item = items.findLast(({ type }) => type === "message");
  return item?.type === "message" ? messageText(item) : "";
}

describe.each(wireApis)("over $api", (spoken) => {
  test("every request of the turn carries the schema, and the next turn's requests do not", async () => {
    const mock = await mockLlm();
    const { api, provider, model } = spoken;
    const { manager } = await wireManager(mock, spoken, { config: { api, provider, model, approvalPolicy: "never" } });
    const { conversation } = await manager.newConversation();
    const items = await conversation.processMessage("list files", { outputSchema: schema });
    expect(JSON.parse(lastText(items))).toEqual({
      answer: expect.stringContaining("The tool answered"),
      sure: false,
      steps: [expect.any(String)],
      count: 0,
      mood: "good",
    });
    await conversation.processMessage("hello");
    expect(mock.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    const place = places[spoken.api] ?? {};
    for (const { body } of mock.requests.slice(0, 2)) expect(body).toMatchObject(place);
    for (const key of Object.keys(place)) expect(mock.requests[2]?.body).not.toHaveProperty(key);
  });

  test("a schema that cannot be enforced is refused before anything is sent or started", async () => {
    const mock = await mockLlm();
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation();
    const open = { ...schema, additionalProperties: true };
    await expect(conversation.processMessage("hello", { outputSchema: open })).rejects.toThrow(
      "submission: final_output_json_schema.additionalProperties: expected false: only named properties are allowed",
    );
    expect(mock.requests).toEqual([]);
    expect(conversation.turns).toBe(0);
  });

  test("user_turn accepts a schema as in Codex, together with an effort", async () => {
    const mock = await mockLlm();
    const { manager } = await wireManager(mock, spoken);
    const { conversation } = await manager.newConversation({ effort: "high" });
    const events = new EventLog(conversation);
    await conversation.submit({
      type: "user_turn",
      items: [{ type: "text", text: "hello" }],
      cwd: conversation.settings.cwd,
      approval_policy: "never",
      sandbox_policy: { type: "read-only" },
      model: spoken.model,
      summary: "auto",
      final_output_json_schema: schema,
    });
    const { last_agent_message: said } = await events.until("task_complete");
    expect(JSON.parse(said ?? "")).toMatchObject({ mood: "good" });
    expect(mock.requests.map(({ status }) => status)).toEqual([200]);
    expect(mock.requests[0]?.body).toMatchObject(places[spoken.api] ?? {});
  });
});

const tool = defineTool({
  name: "effect",
  description: "",
  parameters: z.strictObject({}),
  readOnly: false,
  command: (_arguments, { cwd }) => ({ argv: ["effect"], cwd }),
  run: () => "done",
});

test("the rollout stores the schema with its turn only, and a turn resumed after a crash keeps it", async () => {
  const provider = scripted([says("hi"), callsAll({ name: "effect", callId: "a", arguments: "{}" })]);
  const { conversation, conversationId, events } = await openConversation({ provider, tools: [tool] });
  await conversation.processMessage("hello");
  const items = [{ type: "text" as const, text: "go" }];
  await conversation.submit({ type: "user_input", items, final_output_json_schema: schema });
  await events.until("exec_approval_request");
  const home = await copyAsAfterCrash(conversation);
  const lines = await rolloutLines(conversation.rolloutPath);
  const contexts = lines.filter(({ type }) => type === "turn_context").map(({ payload }) => payload as TurnContext);
  expect(contexts.map(({ final_output_json_schema }) => final_output_json_schema)).toEqual([undefined, schema]);

  const again = scripted([says("{}"), says("hi")]);
  const { manager } = await openManager({ home, providers: [again], tools: [tool] });
  const resumed = await manager.resumeConversation(conversationId);
  const later = new EventLog(resumed);
  const { approval_id: id } = await later.until("exec_approval_request");
  await resumed.submit({ type: "exec_approval", id, decision: "approved" });
  await later.until("task_complete");
  await resumed.processMessage("hello");
  expect(again.requests.map(({ outputSchema }) => outputSchema)).toEqual([schema, undefined]);
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import type { MockLlm } from "../../src/mock-llm/server.js";
import { copyAsAfterCrash } from "../support/copy-as-after-crash.js";
import { EventLog } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { mockLlm, type SpokenApi, wireApis, wireManager } from "../support/wire-apis.js";

const [responses, chat, messages] = wireApis as [SpokenApi, SpokenApi, SpokenApi];
const search = {
  type: "web_search_call" as const,
  id: "ws_1",
  status: "completed",
  action: { type: "search", query: "node 24 release date" },
};
const searched: MockReply = { reasoning: "Look it up.", items: [search], text: "In May 2025." };

type Item = Readonly<Record<string, unknown>>;

function inputs({ requests }: MockLlm): Item[][] {
  return requests.map(({ body }) => (body as { readonly input?: Item[] }).input ?? []);
}

async function savedItems(path: string | null): Promise<Item[]> {
  return (await rolloutLines(path)).flatMap(({ type, payload }) => (type === "response_item" ? [payload] : []));
}

describe("a web search by the provider", () => {
  test("is recorded, reported as an event, and sent back with the reasoning before it", async () => {
    const mock = await mockLlm([searched, { text: "Yes" }]);
    const { manager } = await wireManager(mock, responses);
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("When was Node 24 released?");
    expect(await events.until("web_search_end")).toEqual({
      type: "web_search_end",
      call_id: "ws_1",
      query: "node 24 release date",
      action: search.action,
    });
    await events.until("task_complete");
    expect(await savedItems(conversation.rolloutPath)).toContainEqual(search);
    const lines = await rolloutLines(conversation.rolloutPath);
    expect(lines.map(({ payload }) => payload["type"])).toContain("web_search_end");

    await conversation.processMessage("Sure?");
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
    expect(inputs(mock)[1]?.map(({ type }) => type)).toEqual([
      "message",
      "reasoning",
      "web_search_call",
      "message",
      "message",
    ]);
    const { id: _, ...sent } = search;
    expect(inputs(mock)[1]).toContainEqual(sent);
  });

  test("becomes a sentence of the assistant over the other APIs, after a resume", async () => {
    const mock = await mockLlm([searched, { text: "Yes" }, { text: "Yes" }]);
    const { manager, home } = await wireManager(mock, responses);
    const { conversation, conversationId } = await manager.newConversation();
    await conversation.processMessage("When was Node 24 released?");
    await manager.shutdown();
    for (const spoken of [chat, messages]) {
      const { manager: next } = await wireManager(mock, spoken, { home });
      const { provider, model } = spoken;
      await (await next.resumeConversation(conversationId, { provider, model })).processMessage("Sure?");
      await next.shutdown();
    }
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined]);
    for (const { body } of mock.requests.slice(1)) {
      expect(JSON.stringify(body)).toContain("(Searched the web for: node 24 release date)");
    }
  });
});

describe("a call of the provider's local shell", () => {
  const call = {
    type: "local_shell_call" as const,
    call_id: "call_1",
    status: "completed",
    action: { type: "exec", command: ["sh", "-c", "echo ran > done.txt; echo hello"], env: {} },
  };

  test("needs approval, runs as a shell command, and is answered", async () => {
    const mock = await mockLlm([{ items: [call] }, { text: "Done" }]);
    const cwd = await temporaryFolder();
    const { manager } = await wireManager(mock, responses, { cwd });
    const { conversation } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Say hello");
    const asked = await events.until("exec_approval_request");
    expect(asked).toMatchObject({ call_id: "call_1", command: call.action.command });
    await conversation.submit({ type: "exec_approval", id: asked.approval_id, decision: "approved" });
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Done" });
    expect(await readFile(join(cwd, "done.txt"), "utf8")).toBe("ran\n");
    const saved = await savedItems(conversation.rolloutPath);
    expect(saved.filter(({ type }) => String(type).includes("_call"))).toEqual([
      call,
      { type: "function_call_output", call_id: "call_1", output: expect.stringContaining("hello") },
    ]);
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  });

  test.each([
    [{ ...call.action, user: "root" }, "user"],
    [{ ...call.action, env: { PATH: "/evil" } }, "env"],
    [{ type: "exec" }, "command"],
  ])("is refused with a reason when it asks for what shell cannot do: %j", async (action, reason) => {
    const mock = await mockLlm([{ items: [{ ...call, action }] }, { text: "Oh" }]);
    const cwd = await temporaryFolder();
    const { manager } = await wireManager(mock, responses, { cwd });
    const { conversation } = await manager.newConversation();
    await conversation.processMessage("Say hello", { approve: () => "approved" });
    await expect(readFile(join(cwd, "done.txt"))).rejects.toThrow("ENOENT");
    const output = (await savedItems(conversation.rolloutPath)).find(({ type }) => type === "function_call_output");
    expect(output).toMatchObject({ call_id: "call_1", success: false, output: expect.stringContaining(reason) });
    expect(mock.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  });

  test("needs approval again when its process died before a decision", async () => {
    const mock = await mockLlm([{ items: [call] }, { text: "Done" }]);
    const cwd = await temporaryFolder();
    const { manager } = await wireManager(mock, responses, { cwd });
    const { conversation, conversationId } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Say hello");
    await events.until("exec_approval_request");
    const home = await copyAsAfterCrash(conversation);
    const after = await wireManager(mock, responses, { home, cwd });
    const resumed = await after.manager.resumeConversation(conversationId);
    const resumedEvents = new EventLog(resumed);
    const { approval_id: id } = await resumedEvents.until("exec_approval_request");
    await resumed.submit({ type: "exec_approval", id, decision: "approved" });
    expect(await resumedEvents.until("task_complete")).toMatchObject({ last_agent_message: "Done" });
    expect(await readFile(join(cwd, "done.txt"), "utf8")).toBe("ran\n");
  });
});

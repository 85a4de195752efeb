import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import type { MockReply } from "../../src/mock-llm/script.js";
import { EventLog, openConversation, openManager } from "../support/open-conversation.js";
import { calls, says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { mockLlm, toolOutputs, wireApis, wireManager } from "../support/wire-apis.js";

const now = () => new Date("2026-11-17T12:00:00.000Z");
const fullAccess: ManagerOptions["config"] = { sandbox: "danger-full-access" };

interface PromptBody {
  readonly instructions?: string;
  readonly system?: string | readonly { readonly text: string }[];
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
}

/** The system prompt of a request, in each API's own field. */
function promptOf(request: { readonly body: unknown } | undefined): string {
  const { instructions, system, messages = [] } = (request?.body ?? {}) as PromptBody;
  const first = messages.find(({ role }) => role === "system" || role === "developer")?.content;
  const text =
    instructions ?? (typeof system === "string" ? system : system?.map((part) => part.text).join("")) ?? first;
  return typeof text === "string" ? text : JSON.stringify(text);
}

function saves(id: string, args: Record<string, unknown>): MockReply {
  return { calls: [{ id, name: "add_knowledge", arguments: args }] };
}

describe.each(wireApis)("over $api", (spoken) => {
  const { api, provider, model } = spoken;

  test("entries saved in one run are in the next run's prompt, ranked and within its budget", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "AGENTS.md"), "Always be kind.");
    await seedKnowledge(cwd);
    const first = await mockLlm([
      saves("call_1", { type: "correction", content: "Use pnpm, not npm" }),
      saves("call_2", { type: "discovery", content: "CI is slow", confidence: 0.5, tags: ["ci"] }),
      { text: "Saved." },
    ]);
    const config = { provider, api, model, ...fullAccess };
    const { manager } = await wireManager(first, spoken, { cwd, now, config });
    const { conversation, conversationId } = await manager.newConversation();
    const events = new EventLog(conversation);
    await conversation.submit("Remember this");
    expect(await events.until("knowledge_saved")).toMatchObject({ content: "Use pnpm, not npm" });
    await events.until("task_complete");
    await manager.shutdown();
    expect(toolOutputs(first.requests[2] ?? { body: {} })).toEqual({
      call_1: expect.anything() as unknown,
      call_2: expect.anything() as unknown,
    });
    expect(JSON.stringify(first.requests[2]?.body)).toContain("Knowledge saved: [correction] Use pnpm, not npm");
    const saved = (await linesOf(cwd)).at(-2);
    expect(saved).toMatchObject({
      type: "correction",
      confidence: 0.8,
      sessionId: conversationId,
      timestamp: now().toISOString(),
    });

    const second = await mockLlm([{ text: "I know." }]);
    const next = await wireManager(second, spoken, {
      cwd,
      now,
      config: { ...config, knowledge: { injectionBudget: 60 } },
    });
    const { conversation: later } = await next.manager.newConversation();
    await later.processMessage("What do you know?");
    const prompt = promptOf(second.requests[0]);
    const [, section = ""] = /(## Project Knowledge\n[^]*?)\n\nInstructions from: /.exec(prompt) ?? [];
    // 1.2, 0.8 × 1.3 × ½, 0.5 × 0.8, 0.8 × ¼; the longest entry has the highest score and does not fit.
    expect(section).toBe(
      [
        "## Project Knowledge",
        "The following knowledge was accumulated from previous sessions:",
        "",
        "- [correction] Use pnpm, not npm",
        "- [preference] Short answers",
        "- [discovery] CI is slow",
        "- [pattern] Tests run with vitest",
      ].join("\n"),
    );
    expect(Math.ceil(section.length / 4)).toBeLessThanOrEqual(60);
    const order = ["Date: 2026-11-17", "## Project Knowledge", "Instructions from:", "You have the tool add_knowledge"];
    const places = order.map((text) => prompt.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });
});

function entry(id: string, timestamp: string, type: string, content: string, fields = {}): string {
  return JSON.stringify({ id, timestamp, type, content, confidence: 0.8, ...fields });
}

/** Entries of one and two months ago, one that was replaced, one that is too long, and an invalid line. */
async function seedKnowledge(cwd: string): Promise<void> {
  await mkdir(join(cwd, ".cody/knowledge"), { recursive: true });
  await writeFile(
    join(cwd, ".cody/knowledge/knowledge.jsonl"),
    [
      entry("00000001", "2026-09-18T12:00:00.000Z", "pattern", "Tests run with vitest"),
      entry("00000002", "2026-10-18T12:00:00.000Z", "preference", "Short answers"),
      entry("00000003", "2026-11-16T12:00:00.000Z", "decision", "Tests run with jest"),
      "{ torn",
      entry("00000004", "2026-11-16T12:00:00.000Z", "correction", "x".repeat(1_000), { confidence: 1 }),
      entry("00000005", "2026-01-01T12:00:00.000Z", "discovery", "y".repeat(500), { supersedes: "00000003" }),
      "",
    ].join("\n"),
  );
}

async function linesOf(cwd: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(cwd, ".cody/knowledge/knowledge.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "{ torn")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("saving needs approval like any other change, and a denied entry is not saved", async () => {
  const cwd = await temporaryFolder();
  const provider = scripted([calls("add_knowledge", "call_1", { type: "pattern", content: "x" }), says("Well.")]);
  const { conversation, events } = await openConversation({ provider, cwd });
  await conversation.submit("Save it");
  const request = await events.until("exec_approval_request");
  expect(request.command).toEqual(["add_knowledge", '{"type":"pattern","content":"x","confidence":0.8}']);
  await conversation.submit({ type: "exec_approval", id: request.approval_id, decision: "denied" });
  await events.until("task_complete");
  await expect(readFile(join(cwd, ".cody/knowledge/knowledge.jsonl"))).rejects.toThrow("ENOENT");
});

test.each([
  ["a type there is not", { type: "rule", content: "x" }],
  ["nothing", { type: "pattern", content: "  " }],
  ["too much", { type: "pattern", content: "x".repeat(4_001) }],
  ["a confidence over one", { type: "pattern", content: "x", confidence: 1.1 }],
  ["a field it does not know", { type: "pattern", content: "x", path: "/etc/passwd" }],
])("a call with %s is answered as an error and saves nothing", async (_, args) => {
  const cwd = await temporaryFolder();
  const provider = scripted([calls("add_knowledge", "call_1", args), says("Well.")]);
  const { conversation, events } = await openConversation({ provider, cwd, config: fullAccess });
  await conversation.submit("Save it");
  await events.until("task_complete");
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({
    output: expect.stringMatching(/^the arguments of add_knowledge: .*nothing was run$/) as string,
  });
  expect(events.types()).not.toContain("knowledge_saved");
});

test("a known secret is not saved, put in a prompt or shown", async () => {
  const cwd = await temporaryFolder();
  const secret = "sk-very-secret-0123456789";
  const provider = scripted([
    calls("add_knowledge", "call_1", { type: "pattern", content: `key ${secret}` }),
    says("Well."),
  ]);
  const { conversation, events } = await openConversation({
    provider,
    cwd,
    config: fullAccess,
    env: { OPENAI_API_KEY: secret },
  });
  await conversation.submit("Save it");
  expect(await events.until("knowledge_saved")).toMatchObject({ content: "key [redacted]" });
  await events.until("task_complete");
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({ output: "Knowledge saved: [pattern] key [redacted]" });
  expect(await readFile(join(cwd, ".cody/knowledge/knowledge.jsonl"), "utf8")).not.toContain(secret);
});

test("an entry that cannot be saved is reported to the model, and the turn continues", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, ".cody"), "");
  const provider = scripted([calls("add_knowledge", "call_1", { type: "pattern", content: "x" }), says("Well.")]);
  const { conversation, events } = await openConversation({ provider, cwd, config: fullAccess });
  await conversation.submit("Save it");
  expect(await events.until("task_complete")).toMatchObject({ last_agent_message: "Well." });
  expect(provider.requests[1]?.input.at(-1)).toMatchObject({
    output: "The knowledge was not saved: a part of the path is not a folder",
  });
});

test("invalid lines are skipped with one warning per conversation", async () => {
  const cwd = await temporaryFolder();
  await seedKnowledge(cwd);
  const provider = scripted([says("One"), says("Two")]);
  const { conversation, events } = await openConversation({ provider, cwd, now });
  for (const text of ["one", "two"]) {
    await conversation.submit(text);
    await events.until("task_complete");
  }
  const warnings = events.seen.flatMap(({ msg }) => (msg.type === "warning" ? [msg.message] : []));
  expect(warnings).toEqual([expect.stringContaining("skipped 1 line(s) with invalid knowledge; the first is line 4")]);
  expect(provider.requests[0]?.instructions).toContain("- [preference] Short answers");
});

test("when knowledge is switched off, nothing is put in the prompt, offered or saved", async () => {
  const cwd = await temporaryFolder();
  await seedKnowledge(cwd);
  const provider = scripted([calls("add_knowledge", "call_1", { type: "pattern", content: "x" }), says("Well.")]);
  const { conversation, events } = await openConversation({
    provider,
    cwd,
    config: { ...fullAccess, knowledge: { enabled: false } },
  });
  await conversation.submit("Save it");
  await events.until("task_complete");
  const [first, second] = provider.requests;
  expect(first?.instructions).not.toMatch(/Project Knowledge|add_knowledge/);
  expect(first?.tools?.map(({ name }) => name)).not.toContain("add_knowledge");
  expect(second?.input.at(-1)).toMatchObject({ output: "unknown tool add_knowledge" });
});

test("a hundred conversations of one project share its knowledge, and each sees what another has saved", async () => {
  const cwd = await temporaryFolder();
  const saving = scripted([calls("add_knowledge", "call_1", { type: "pattern", content: "shared" }), says("Well.")]);
  const asking = { ...scripted(Array.from({ length: 200 }, () => says("Yes"))), name: "asking" };
  const { manager } = await openManager({ cwd, config: fullAccess, providers: [saving, asking] });
  const open = (provider: string) => manager.newConversation({ provider, model: "scripted" });
  const opened = await Promise.all(Array.from({ length: 100 }, () => open("asking")));
  await Promise.all(opened.map(({ conversation }) => conversation.processMessage("before")));
  await (await open("scripted")).conversation.processMessage("save");
  await Promise.all(opened.map(({ conversation }) => conversation.processMessage("after")));
  const told = asking.requests.map(({ instructions }) => instructions.includes("- [pattern] shared"));
  expect(told).toEqual([...Array.from({ length: 100 }, () => false), ...Array.from({ length: 100 }, () => true)]);
  // All conversations share one string, so a thousand of them do not hold a thousand copies.
  expect(new Set(asking.requests.map(({ instructions }) => instructions)).size).toBe(2);
});

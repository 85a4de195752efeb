import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Failure } from "../../../src/messages/failure.js";
import type { ModelEvent } from "../../../src/messages/model.js";
import type { Reply } from "../../support/scripted-provider.js";
import { assistant, calls, says, scripted } from "../../support/scripted-provider.js";
import { FakeTerminal } from "../../support/cli-terminal.js";

const fixtures = new URL("../../fixtures/codex/", import.meta.url);

const patch = `*** Begin Patch
*** Update File: README.md
@@
-# Demo project
+# Demo project, read
*** Add File: notes.txt
+seen
*** End Patch`;

/** A message before a call, in one answer. */
function saysThen(text: string, call: Reply): Reply {
  const message: ModelEvent = { type: "item", itemId: "before", item: assistant(text) };
  return [message, ...call];
}

function runs(callId: string, script: string): Reply {
  return calls("shell", callId, { command: ["sh", "-c", script] });
}

function thinks(...summary: readonly string[]): ModelEvent {
  const texts = summary.map((text) => ({ type: "summary_text" as const, text }));
  return { type: "item", itemId: "thought", item: { type: "reasoning", summary: texts, encrypted_content: null } };
}

function plans(callId: string, ...statuses: readonly string[]): Reply {
  const steps = ["one", "two"];
  return calls("update_plan", callId, { plan: steps.map((step, index) => ({ step, status: statuses[index] })) });
}

function failed(failure: Failure): Reply {
  return [{ type: "failed", failure }];
}

/** A stdio MCP server with the tool that the recorded conversation has called. */
const echoServer = `
import { createInterface } from "node:readline";
const text = (value) => ({ content: [{ type: "text", text: value }] });
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "say", inputSchema: { type: "object", properties: { text: {} } } }] }),
  "tools/call": ({ arguments: { text: said } }) =>
    said === "boom" ? { ...text("it failed"), isError: true } : { ...text("echo: " + said), structuredContent: { said } },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} }));
}
`;

interface Scenario {
  /** The folder of the recorded output. */
  readonly name: string;
  /** The recorded step; 0 by default. */
  readonly step?: number;
  readonly replies: readonly Reply[];
  readonly flags?: readonly string[];
  readonly code?: number;
}

const scenarios: readonly Scenario[] = [
  { name: "v0.166.0/simple", replies: [says("Hello from the fake model.")] },
  {
    name: "v0.166.0/tools",
    replies: [
      saysThen("I will look at the project.", runs("a", "echo hello && cat README.md")),
      runs("b", "ls /nope; exit 3"),
      calls("apply_patch", "c", { input: patch }),
      says("Done: read the README, added notes.txt."),
    ],
  },
  {
    name: "v0.166.0/reasoning",
    replies: [
      [thinks("**Reading** I should read the file first.", "**Answering** Now I know."), ...runs("a", "cat README.md")],
      says("The project is a demo."),
    ],
  },
  {
    name: "v0.58.0/plan",
    replies: [plans("a", "in_progress", "pending"), plans("b", "completed", "in_progress"), says("planned")],
  },
  {
    name: "v0.147.0/mcp",
    replies: [
      calls("mcp__echo__say", "a", { text: "hi" }),
      calls("mcp__echo__say", "b", { text: "boom" }),
      says("done"),
    ],
  },
  { name: "v0.166.0/image", replies: [says("a dot")], flags: ["-i", "dot.png"] },
  {
    name: "v0.166.0/failed",
    replies: [failed({ code: "invalid_request", message: "Invalid request from the fake server.", retryable: false })],
    code: 1,
  },
  {
    name: "v0.166.0/failed",
    step: 5,
    replies: [
      failed({ code: "network", message: "stream disconnected", retryable: true, retryAfterMs: 0 }),
      says("ok after reconnect"),
    ],
  },
];

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function openProject(replies: readonly Reply[]): Promise<FakeTerminal> {
  const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
  await writeFile(join(terminal.cwd, "README.md"), "# Demo project\n");
  await writeFile(join(terminal.cwd, "dot.png"), Buffer.from(dot, "base64"));
  const server = join(terminal.home, "server.mjs");
  await writeFile(server, echoServer);
  const settings = { mcp_servers: { echo: { command: process.execPath, args: [server] } } };
  await writeFile(join(terminal.home, "config.json"), JSON.stringify(settings));
  return terminal;
}

const headless = ["--json", "--no-stdin", "--sandbox", "danger-full-access"];

test.each(scenarios)(
  "the events of $name $step are those of a real Codex, apart from ids, folders and tokens",
  async ({ name, step = 0, replies, flags = [], code = 0 }) => {
    const terminal = await openProject(replies);
    expect(await terminal.run("exec", "go", ...headless, ...flags)).toBe(code);
    const golden = await readFile(new URL(`${name}/exec-json.${step}.txt`, fixtures), "utf8");
    expect(comparable(terminal.screen, terminal.cwd)).toEqual(comparable(golden, "/tmp/proj"));
  },
);

test("a conversation that is resumed twice has the events of a real Codex, and counts tokens as it does", async () => {
  const terminal = await openProject([
    runs("a", "echo one"),
    says("First answer."),
    says("Second answer."),
    says("Third answer."),
  ]);
  expect(await terminal.run("exec", "go", ...headless)).toBe(0);
  expect(await terminal.run("exec", "resume", "--last", "more", ...headless)).toBe(0);
  expect(await terminal.run("exec", "resume", "--last", "more", ...headless)).toBe(0);
  const steps = [0, 1, 2].map((step) => readFile(new URL(`v0.166.0/resumed/exec-json.${step}.txt`, fixtures), "utf8"));
  const golden = (await Promise.all(steps)).join("");
  expect(comparable(terminal.screen, terminal.cwd)).toEqual(comparable(golden, "/tmp/proj"));
  // A call of the recorded model has used 100 tokens, and one of the scripted model 10.
  expect(inputTokens(terminal.screen).map((tokens) => tokens * 10)).toEqual(inputTokens(golden));
  expect(new Set(threads(terminal.screen)).size).toBe(1);
});

/** The item of a plan with two steps. */
function list(...completed: readonly boolean[]): object {
  const items = ["one", "two"].map((text, index) => ({ text, completed: completed[index] }));
  return { id: "item_0", type: "todo_list", items };
}

test("each turn has its own plan, which is completed before the turn fails", async () => {
  const terminal = await openProject([
    plans("a", "in_progress", "pending"),
    failed({ code: "invalid_request", message: "no more", retryable: false }),
    plans("b", "completed", "completed"),
    says("planned"),
  ]);
  expect(await terminal.run("exec", "go", ...headless)).toBe(1);
  expect(await terminal.run("exec", "resume", "--last", "more", ...headless)).toBe(0);
  expect(parsedLines(terminal.screen).filter(({ type }) => type !== "thread.started")).toMatchObject([
    { type: "turn.started" },
    { type: "item.started", item: list(false, false) },
    { type: "error", message: "no more" },
    { type: "item.completed", item: list(false, false) },
    { type: "turn.failed", error: { message: "no more" } },
    { type: "turn.started" },
    { type: "item.started", item: list(true, true) },
    { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "planned" } },
    { type: "item.completed", item: list(true, true) },
    { type: "turn.completed" },
  ]);
});

type Line = Readonly<Record<string, unknown>>;

function parsedLines(lines: string): Line[] {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

function inputTokens(lines: string): number[] {
  return parsedLines(lines).flatMap(({ usage }) =>
    usage === undefined ? [] : [(usage as { input_tokens: number }).input_tokens],
  );
}

function threads(lines: string): unknown[] {
  return parsedLines(lines).flatMap((line) => ("thread_id" in line ? [line["thread_id"]] : []));
}

/** What later versions of Codex have added. */
const newerUsage = ["cache_write_input_tokens", "reasoning_output_tokens"];

function comparable(lines: string, folder: string): unknown[] {
  return parsedLines(lines.replaceAll(folder, "").replaceAll("/bin/bash -lc", "sh -c")).map((event) => ({
    ...event,
    ...("thread_id" in event ? { thread_id: "" } : {}),
    ...("usage" in event
      ? { usage: [...new Set([...Object.keys(event["usage"] as object), ...newerUsage])].toSorted() }
      : {}),
    ...(event["type"] === "error" ? { message: String(event["message"]).replace(/\/\d+ \(.*\)$/, "/n (…)") } : {}),
  }));
}

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli, commandOf } from "../support/cli.js";
import { mockKey, mockLlm } from "../support/wire-apis.js";
import type { MockReply } from "../../src/mock-llm/script.js";

const runFile = promisify(execFile);

const sdk = "@anthropic-ai/claude-agent-sdk";
const version = "0.3.326";
const model = "claude-sonnet-4-20250514";

/** The parts of the SDK's types that the tests use. */
interface Query extends AsyncGenerator<Record<string, unknown>> {
  interrupt(): Promise<unknown>;
  setModel(model: string): Promise<void>;
}
type QueryFunction = (request: { prompt: unknown; options: Record<string, unknown> }) => Query;

let query: QueryFunction;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cody-claude-sdk-"));
  const args = ["install", "--silent", "--ignore-scripts", "--omit=optional", "--prefix", folder, `${sdk}@${version}`];
  await runFile("npm", args);
  const entry = join(folder, "node_modules", sdk, "sdk.mjs");
  query = ((await import(pathToFileURL(entry).href)) as { query: QueryFunction }).query;
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A function that starts the unmodified SDK with cody in place of Claude Code. */
async function openSdk(script?: readonly MockReply[]) {
  const mock = await mockLlm(script);
  const cli = await Cli.open({ spawned: true });
  const [, main = ""] = commandOf([]);
  const env = { ...cli.env, ANTHROPIC_API_KEY: mockKey, ANTHROPIC_BASE_URL: mock.url };
  const base = { pathToClaudeCodeExecutable: main, cwd: cli.project, env, model };
  const start = (prompt: unknown, options: object = {}): Query => query({ prompt, options: { ...base, ...options } });
  return { start, requests: mock.requests };
}

async function played(messages: Query): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

function shell(command: string): MockReply {
  return { calls: [{ name: "shell", arguments: { command } }] };
}

function said(text: string): object {
  const message = { role: "user", content: text };
  return { type: "user", session_id: "", parent_tool_use_id: null, message };
}

test("a turn with tools: the callback allows one call and refuses another", async () => {
  const { start } = await openSdk([shell("echo seen"), shell("touch made"), { text: "Done." }]);
  const asked: unknown[] = [];
  const canUseTool = (name: string, input: { command: string }) => {
    asked.push([name, input]);
    const isAllowed = input.command.startsWith("echo");
    return Promise.resolve(
      isAllowed ? { behavior: "allow", updatedInput: input } : { behavior: "deny", message: "not this one" },
    );
  };
  const messages = await played(start("look", { canUseTool, includePartialMessages: true }));
  expect(asked).toEqual([
    ["Bash", { command: "echo seen" }],
    ["Bash", { command: "touch made" }],
  ]);
  expect(messages.at(0)).toMatchObject({ type: "system", subtype: "init", model });
  expect(messages.at(-1)).toMatchObject({
    type: "result",
    subtype: "success",
    result: "Done.",
    num_turns: 3,
    permission_denials: [{ tool_name: "Bash" }],
  });
  expect(JSON.stringify(messages)).toContain("not this one");
  expect(new Set(messages.map(({ type }) => type))).toEqual(
    new Set(["system", "stream_event", "assistant", "user", "result"]),
  );
});

test("the callback may change the arguments of a call, and the policy judges them", async () => {
  const { start, requests } = await openSdk([shell("touch one"), shell("ls"), { text: "Done." }]);
  const changes: Readonly<Record<string, string>> = { "touch one": "echo changed", ls: "rm -rf kept" };
  const canUseTool = (_name: string, input: { command: string }) =>
    Promise.resolve({ behavior: "allow", updatedInput: { ...input, command: changes[input.command] } });
  const messages = await played(start("look", { canUseTool, disallowedTools: ["Bash(rm:*)"] }));
  expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "Done.", permission_denials: [] });
  const results = JSON.stringify(messages.filter(({ type }) => type === "user"));
  expect(results).toMatch(/changed.*the arguments were changed to.*echo changed.*was not run.*rm/);
  expect(JSON.stringify(requests.at(-1))).toContain("echo changed");
});

test("one process answers several messages, and another resumes or copies the conversation", async () => {
  const { start } = await openSdk();
  let next: ((text: string | undefined) => void) | undefined;
  async function* input() {
    for (;;) {
      const text = await new Promise<string | undefined>((resolve) => (next = resolve));
      if (text === undefined) return;
      yield said(text);
    }
  }
  const session = start(input());
  const results: unknown[] = [];
  // The SDK reads the input once the process has started.
  const initialized = (session as unknown as { supportedModels(): Promise<unknown> }).supportedModels();
  await initialized;
  next?.("my name is Ada");
  for await (const message of session) {
    if (message["type"] !== "result") continue;
    results.push(message["result"]);
    if (results.length === 1) await session.setModel("claude-opus-4-20250514");
    next?.(results.length === 1 ? "what is my name?" : undefined);
  }
  expect(results).toEqual(["Noted: your name is Ada.", "You told me: your name is Ada."]);
  const [first] = await played(start("what is my name?", { continue: true }));
  const resumed = await played(start("what is my name?", { resume: first?.["session_id"] }));
  expect(resumed.at(-1)).toMatchObject({
    result: "You told me: your name is Ada.",
    session_id: first?.["session_id"],
  });
  const copy = await played(start("what is my name?", { resume: first?.["session_id"], forkSession: true }));
  expect(copy.at(-1)).toMatchObject({ result: "You told me: your name is Ada." });
  expect(copy.at(-1)?.["session_id"]).not.toBe(first?.["session_id"]);
});

test("structured output, and the text of a failure", async () => {
  const { start } = await openSdk();
  const schema = {
    type: "object",
    properties: { answer: { type: "string" } },
    required: ["answer"],
    additionalProperties: false,
  };
  const messages = await played(start("what is 6*7?", { outputFormat: { type: "json_schema", schema } }));
  expect(messages.at(-1)).toMatchObject({ structured_output: { answer: expect.stringContaining("42") } });
  const failing = await openSdk([{ fault: { type: "status", status: 400, message: "bad thing" } }]);
  await expect(played(failing.start("fail"))).rejects.toThrow("bad thing");
});

test("interrupt ends the turn, and an abort ends the process", async () => {
  const stalled: MockReply = { text: "never ends", fault: { type: "stall", afterBytes: 300 } };
  const { start, requests } = await openSdk([stalled, stalled]);
  const session = start("wait", { canUseTool: () => Promise.resolve({ behavior: "deny", message: "no" }) });
  const ended = played(session);
  await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(1);
  await session.interrupt();
  await expect(ended).rejects.toThrow("interrupted");
  const abortController = new AbortController();
  const aborted = played(start("wait", { abortController }));
  await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(2);
  abortController.abort();
  await expect(aborted).rejects.toThrow(/abort/i);
});

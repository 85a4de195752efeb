import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeTerminal } from "../../support/cli-terminal.js";
import { type Reply, calls, says, scripted } from "../../support/scripted-provider.js";

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

const streamFlags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
const asking = ["--permission-prompt-tool=stdio", "--permission-mode=default"];

/** A program that speaks Claude Code's protocol with cody. */
class Program {
  readonly terminal: FakeTerminal;
  readonly #running: Promise<number>;

  private constructor(terminal: FakeTerminal, flags: readonly string[]) {
    this.terminal = terminal;
    this.#running = terminal.run(...streamFlags, ...flags);
  }

  static async start(replies: Iterable<Reply>, flags: readonly string[] = []): Promise<Program> {
    const terminal = await FakeTerminal.open(scripted(replies), { notTTY: ["stdin", "stdout", "stderr"] });
    return new Program(terminal, flags);
  }

  send(message: object): void {
    this.terminal.type(`${JSON.stringify(message)}\n`);
  }

  say(text: string): void {
    this.send({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "" });
  }

  request(id: string, request: object): void {
    this.send({ type: "control_request", request_id: id, request });
  }

  answer(id: string, response: object): void {
    this.send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
  }

  async shows(text: string): Promise<void> {
    await this.terminal.shows(text);
  }

  get messages(): Message[] {
    return this.terminal.screen
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Message);
  }

  /** The question to the program with this number, from 1. */
  async question(number: number): Promise<string> {
    await this.shows(`"request_id":"cody-${number}"`);
    return `cody-${number}`;
  }

  async end(): Promise<number> {
    this.terminal.hangUp();
    return await this.#running;
  }
}

test("a turn with a call that the program allows", async () => {
  const program = await Program.start(
    [calls("shell", "call-1", { command: "echo seen > seen.txt" }), says("Done.")],
    asking,
  );
  program.request("init", { subtype: "initialize", hooks: {}, systemPrompt: ["You are terse."] });
  await program.shows('"request_id":"init"');
  program.say("look");
  const id = await program.question(1);
  program.answer(id, { behavior: "allow", updatedInput: { command: "echo seen > seen.txt" }, toolUseID: "call-1" });
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  const [initialized, init, call, question, output, answer, result] = program.messages;
  expect(initialized).toMatchObject({ type: "control_response", response: { subtype: "success" } });
  expect(init).toMatchObject({ type: "system", subtype: "init", model: "scripted", permissionMode: "default" });
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 5,
  };
  const use = { type: "tool_use", id: "call-1", name: "Bash", input: { command: "echo seen > seen.txt" } };
  expect(call).toMatchObject({ type: "assistant", message: { content: [use], stop_reason: "tool_use", usage } });
  expect(question).toEqual({
    type: "control_request",
    request_id: "cody-1",
    request: {
      subtype: "can_use_tool",
      tool_name: "Bash",
      input: use.input,
      tool_use_id: "call-1",
      decision_reason: expect.stringContaining("untrusted"),
    },
  });
  expect(output).toMatchObject({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "call-1", is_error: false }] },
  });
  expect(answer).toMatchObject({ type: "assistant", message: { content: [{ type: "text", text: "Done." }] } });
  expect(result).toEqual({
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: expect.any(Number),
    duration_api_ms: expect.any(Number),
    num_turns: 2,
    result: "Done.",
    stop_reason: "end_turn",
    total_cost_usd: 0,
    usage: { ...usage, input_tokens: 20, output_tokens: 10 },
    modelUsage: { scripted: expect.objectContaining({ inputTokens: 20, outputTokens: 10 }) },
    permission_denials: [],
    session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    uuid: expect.any(String),
  });
  expect(await readFile(join(program.terminal.cwd, "seen.txt"), "utf8")).toBe("seen\n");
});

test.each([
  ["refuses", { behavior: "deny", message: "not this one" }, "not this one"],
  ["misunderstands", { behavior: "perhaps" }, "was not understood"],
])("a call that the program %s is not run", async (_name, answer, reason) => {
  const program = await Program.start([calls("shell", "call-1", { command: "touch made" }), says("No.")], asking);
  program.say("make it");
  program.answer(await program.question(1), answer);
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  const result = program.messages.at(-1);
  expect(result).toMatchObject({
    subtype: "success",
    permission_denials: [{ tool_name: "Bash", tool_use_id: "call-1", tool_input: { command: "touch made" } }],
  });
  const output = program.messages.find(({ type }) => type === "user");
  expect(output).toMatchObject({
    message: { content: [{ content: expect.stringContaining(reason), is_error: true }] },
  });
  await expect(readFile(join(program.terminal.cwd, "made"))).rejects.toThrow("ENOENT");
});

test("a call runs with the arguments that the program sets", async () => {
  const program = await Program.start(
    [
      calls("shell", "call-1", { command: "touch one" }),
      calls("write_file", "call-2", { path: "two", content: "2" }),
      says("Done."),
    ],
    asking,
  );
  const folder = program.terminal.cwd;
  program.say("make them");
  program.answer(await program.question(1), { behavior: "allow", updatedInput: { command: "echo 1 > other" } });
  const written = { file_path: join(folder, "second"), content: "changed" };
  program.answer(await program.question(2), { behavior: "allow", updatedInput: written });
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  expect((await readdir(folder)).toSorted()).toEqual(["other", "second"]);
  expect(await readFile(join(folder, "second"), "utf8")).toBe("changed");
  expect(program.messages.at(-1)).toMatchObject({ subtype: "success", permission_denials: [] });
  const outputs = program.messages.filter(({ type }) => type === "user");
  const changed = '[approval] the arguments were changed to {"command":"echo 1 > other"}';
  expect(outputs).toMatchObject([
    { message: { content: [{ content: expect.stringContaining(changed), is_error: false }] } },
    { message: { content: [{ content: expect.stringContaining("[approval]"), is_error: false }] } },
  ]);
});

test.each([
  ["forbids", { command: "rm kept" }, "rm"],
  ["that do not fit", { command: 5 }, "command: "],
  ["too large to keep", { command: "x".repeat(1_000_001) }, "at most 1000000 characters"],
])("arguments that it %s run nothing", async (_name, updatedInput, reason) => {
  const args = ["--disallowedTools", "Bash(rm:*)"];
  const program = await Program.start([calls("shell", "call-1", { command: "ls" }), says("No.")], [...asking, ...args]);
  await writeFile(join(program.terminal.cwd, "kept"), "");
  program.say("look");
  program.answer(await program.question(1), { behavior: "allow", updatedInput });
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  expect(await readdir(program.terminal.cwd)).toEqual(["kept"]);
  expect(program.messages.find(({ type }) => type === "user")).toMatchObject({
    message: { content: [{ content: expect.stringContaining(reason), is_error: true }] },
  });
});

test("a question is refused when the program has closed stdin", async () => {
  const program = await Program.start([calls("shell", "call-1", { command: "touch made" }), says("No.")], asking);
  program.say("make it");
  await program.question(1);
  expect(await program.end()).toBe(0);
  expect(program.messages.at(-1)).toMatchObject({ subtype: "success", permission_denials: [{ tool_name: "Bash" }] });
});

test("what the program allows beforehand needs no question, and what it forbids is refused", async () => {
  const replies = [
    calls("shell", "call-1", { command: "seq 7" }),
    calls("shell", "call-2", { command: "seq 8; touch made" }),
    calls("read_file", "call-3", { path: "a" }),
    says("Done."),
  ];
  const program = await Program.start(replies, [
    ...asking,
    "--allowedTools=Bash(seq:*),Write",
    "--disallowedTools=Read",
  ]);
  program.say("go");
  program.answer(await program.question(1), { behavior: "deny", message: "no" });
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  const outputs = program.messages.filter(({ type }) => type === "user");
  expect(outputs.map(({ message }) => (message as { content: { content: string }[] }).content[0]?.content)).toEqual([
    expect.stringContaining("\n7\n"),
    expect.stringContaining("refused: no"),
    expect.stringContaining("tool:read_file"),
  ]);
});

test("several messages are answered in one process, and settings change between them", async () => {
  const program = await Program.start([
    says("One."),
    calls("shell", "call-1", { command: "touch made" }),
    says("Two."),
  ]);
  program.say("first");
  await program.shows('"type":"result"');
  program.request("r1", { subtype: "set_model", model: "scripted-2" });
  await program.shows('"request_id":"r1"');
  program.request("r2", { subtype: "set_permission_mode", mode: "plan" });
  await program.shows('"request_id":"r2"');
  program.request("r3", { subtype: "set_permission_mode", mode: "bypassPermissions" });
  await program.shows('"request_id":"r3"');
  program.request("r4", { subtype: "rewind_files" });
  await program.shows('"request_id":"r4"');
  program.say("second");
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  const inits = program.messages.filter(({ subtype }) => subtype === "init");
  expect(inits.map(({ model, permissionMode }) => [model, permissionMode])).toEqual([
    ["scripted", "default"],
    ["scripted-2", "plan"],
  ]);
  const responses = program.messages.flatMap(({ type, response }) => (type === "control_response" ? [response] : []));
  expect(responses).toEqual([
    { subtype: "success", request_id: "r1", response: {} },
    { subtype: "success", request_id: "r2", response: {} },
    { subtype: "error", request_id: "r3", error: expect.stringContaining("--allow-dangerously-skip-permissions") },
    { subtype: "error", request_id: "r4", error: expect.stringContaining("subtype") },
  ]);
  expect(JSON.stringify(program.messages)).toContain("the approval policy is never");
});

test("partial messages are the events of the Messages API", async () => {
  const program = await Program.start([says("Hello there."), says("x")], ["--include-partial-messages"]);
  program.say("hi");
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(0);
  const events = program.messages.flatMap(({ event }) => (event === undefined ? [] : [event as Message]));
  expect(events.map(({ type }) => type)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  const texts = events.map(({ delta }) => (delta as { text?: string } | undefined)?.text ?? "");
  expect(texts.join("")).toBe("Hello there.");
});

test("interrupt ends the turn, or the message that has not begun, and the next message is answered", async () => {
  const begins = { type: "text_delta", itemId: "item", delta: "I am" } as const;
  const program = await Program.start([[begins, { type: "hang" }], says("Again.")], ["--include-partial-messages"]);
  program.say("never begins");
  program.request("stop-1", { subtype: "interrupt" });
  await program.shows('"type":"result"');
  program.say("wait");
  await program.shows('"text":"I am"');
  program.request("stop-2", { subtype: "interrupt" });
  await program.shows('"type":"result"');
  program.request("stop-3", { subtype: "interrupt" });
  await program.shows('"request_id":"stop-3"');
  program.say("and now?");
  await program.shows('"result":"Again."');
  expect(await program.end()).toBe(0);
  const results = program.messages.filter(({ type }) => type === "result");
  expect(results.map(({ subtype, is_error }) => [subtype, is_error])).toEqual([
    ["error_during_execution", true],
    ["error_during_execution", true],
    ["success", false],
  ]);
});

test("a limit has a result of its own, and exit code 1", async () => {
  const program = await Program.start(
    [calls("update_plan", "call-1", { plan: [] }), says("x")],
    ["--max-turns=1", "--permission-mode=plan"],
  );
  program.say("go");
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(1);
  expect(program.messages.at(-1)).toMatchObject({
    subtype: "error_max_turns",
    is_error: true,
    errors: [expect.stringContaining("limit of 1 step")],
  });
});

test.each([
  ["hooks", { hooks: { PreToolUse: [{ hookCallbackIds: ["hook_0"] }] } }],
  ["MCP servers", { sdkMcpServers: ["mine"] }],
  ["agents", { agents: { reviewer: {} } }],
])("a program that brings %s is told that cody cannot use them", async (what, fields) => {
  const program = await Program.start([]);
  program.request("init", { subtype: "initialize", ...fields });
  await program.shows("init");
  expect(await program.end()).toBe(2);
  const error = expect.stringContaining(`cody cannot use a program's own ${what}`);
  expect(program.messages).toEqual([
    { type: "control_response", response: { subtype: "error", request_id: "init", error } },
  ]);
  expect(program.terminal.errors).toContain(what);
});

test.each([
  ["no JSON", "hello\n", "stdin: invalid JSON"],
  ["an unknown type", '{"type":"bye"}\n', "stdin: type"],
  ["an empty message", '{"type":"user","message":{"role":"user","content":[]}}\n', "stdin: message.content"],
])("%s on stdin is a usage error", async (_name, text, reason) => {
  const program = await Program.start([]);
  program.terminal.type(text);
  expect(await program.end()).toBe(2);
  expect(program.terminal.errors).toContain(reason);
});

test.each([
  [["--permission-mode=yolo"], "permission mode yolo"],
  [["--permission-mode=bypassPermissions"], "--allow-dangerously-skip-permissions"],
  [["--disallowedTools=Bash(rm * -f)"], "--disallowed-tools Bash(rm * -f)"],
  [["--permission-prompt-tool=mcp__x__y"], "--permission-prompt-tool"],
])("%s is a usage error", async (flags, reason) => {
  const program = await Program.start([], flags);
  expect(await program.end()).toBe(2);
  expect(program.terminal.errors).toContain(reason);
});

test("a schema makes the answer structured output", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  };
  const program = await Program.start([says('{"a":1}'), says('{"b":1}')], [`--json-schema=${JSON.stringify(schema)}`]);
  program.say("one");
  await program.shows('"type":"result"');
  program.say("two");
  await program.shows('"type":"result"');
  expect(await program.end()).toBe(1);
  const results = program.messages.filter(({ type }) => type === "result");
  expect(results).toMatchObject([
    { subtype: "success", structured_output: { a: 1 } },
    { subtype: "error_max_structured_output_retries", errors: expect.arrayContaining([expect.stringContaining("a")]) },
  ]);
});

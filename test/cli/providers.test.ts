import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startMockLlm } from "../../src/mock-llm/server.js";
import { Cli, saysOn, finished } from "../support/cli.js";
import { mockKey, mockLlm, toolOutputs, wireApis, wireEnv } from "../support/wire-apis.js";

describe.each(wireApis)("$provider over $api", ({ api, provider, path, model }) => {
  const setProvider = ["set-provider", provider, "--api", api, "--model", model];

  test("is set once and used by every later process, in a continued conversation", async () => {
    const mock = await mockLlm([{ text: "Hello Alice" }, { text: "You are Alice" }]);
    const env = wireEnv(mock);
    const cli = await Cli.open();
    expect(await cli.run(setProvider, { env })).toMatchObject({ code: 0, stderr: "" });
    await cli.run(["new"], { env });
    expect(await cli.run(["chat", "I am Alice"], { env })).toMatchObject({
      code: 0,
      stdout: "Hello Alice\n",
      stderr: "",
    });
    expect(await cli.run(["chat", "Who am I?"], { env })).toMatchObject({ code: 0, stdout: "You are Alice\n" });
    expect(mock.requests.map((request) => request.path)).toEqual([path, path]);
    expect(mock.requests[1]?.body).toMatchObject({ model });
    expect(JSON.stringify(mock.requests[1]?.body)).toContain("Hello Alice");
    const [id = ""] = await cli.ids();
    expect(await readFile(join(cli.conversations, `${id}.jsonl`), "utf8")).not.toContain(mockKey);
  });

  test("calls tools and receives their outputs", async () => {
    const command = ["sh", "-c", "echo from the tool"];
    const mock = await mockLlm([
      { calls: [{ id: "call_1", name: "shell", arguments: { command } }] },
      { text: "It said so" },
    ]);
    const env = wireEnv(mock);
    const cli = await Cli.open();
    await cli.run(setProvider, { env });
    const chat = ["chat", "--sandbox", "danger-full-access", "Go"];
    expect(await cli.run(chat, { env })).toMatchObject({ code: 0, stdout: "It said so\n" });
    expect(JSON.stringify(toolOutputs(mock.requests[1] ?? { body: {} }))).toContain("from the tool");
  });

  test("is interrupted during an answer, and the conversation continues in another process", async () => {
    const mock = await mockLlm([{ text: "Once upon a time", delayMs: 600_000 }, { text: "Fine" }]);
    const env = wireEnv(mock);
    const cli = await Cli.open();
    await cli.run(setProvider, { env });
    const child = cli.start(["chat", "Tell a story"], { env });
    child.stdin.end();
    await saysOn(child.stdout, "Once");
    child.kill("SIGINT");
    expect(await finished(child)).toMatchObject({ code: 130 });
    expect(await cli.run(["chat", "Go on"], { env })).toMatchObject({ code: 0, stdout: "Fine\n" });
  });

  test("reports in words that the context is too long, and exits with 1", async () => {
    const mock = await mockLlm([{ fault: { type: "overflow" } }]);
    const cli = await Cli.open();
    await cli.run(setProvider, { env: wireEnv(mock) });
    const { code, stdout, stderr } = await cli.run(["chat", "Much"], { env: wireEnv(mock) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/context|too long/i);
  });
});

test("a key selects its provider, without a notice about the offline model", async () => {
  const mock = await mockLlm([{ text: "From Anthropic" }, { text: "From OpenAI" }]);
  const { OPENAI_API_KEY: _, ...anthropicOnly } = wireEnv(mock);
  const cli = await Cli.open();
  const first = await cli.run(["chat", "Hi"], { env: anthropicOnly });
  expect(first).toMatchObject({ code: 0, stdout: "From Anthropic\n" });
  expect(first.stderr).not.toContain("offline");
  await cli.run(["new"], { env: wireEnv(mock) });
  expect(await cli.run(["chat", "Hi"], { env: wireEnv(mock) })).toMatchObject({ stdout: "From OpenAI\n" });
  expect(mock.requests.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/responses"]);
});

test("a conversation that fell back to the offline model uses a real one once a key is set", async () => {
  const mock = await mockLlm([{ text: "A real one" }]);
  const cli = await Cli.open();
  await cli.run(["chat", "my name is Alice"]);
  expect(await cli.run(["chat", "Who am I?"], { env: wireEnv(mock) })).toMatchObject({ stdout: "A real one\n" });
  expect(JSON.stringify(mock.requests[0]?.body)).toContain("my name is Alice");
});

test("resume uses the recorded provider, or the given model across wire APIs", async () => {
  const mock = await mockLlm([{ text: "one" }, { text: "two" }, { text: "three" }]);
  const env = wireEnv(mock);
  const cli = await Cli.open();
  await cli.run(["chat", "--provider", "anthropic", "Hi"], { env });
  await cli.run(["set-provider", "openai", "--api", "chat"], { env });
  const [id = ""] = await cli.ids();
  expect((await cli.run(["resume", id], { env })).stdout).toContain("Provider: anthropic");
  await cli.run(["chat", "Again"], { env });
  expect((await cli.run(["resume", id, "--model", "gpt-4o"], { env })).stdout).toContain("Provider: openai (gpt-4o)");
  await cli.run(["chat", "And again"], { env });
  expect(mock.requests.map(({ path, status }) => [path, status])).toEqual([
    ["/v1/messages", 200],
    ["/v1/messages", 200],
    ["/v1/chat/completions", 200],
  ]);
});

test("resume --api applies to every later chat, whatever API is configured", async () => {
  const mock = await mockLlm([{ text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }]);
  const env = wireEnv(mock);
  const cli = await Cli.open();
  await cli.run(["set-provider", "openai", "--api", "responses"], { env });
  await cli.run(["chat", "one"], { env });
  const [id = ""] = await cli.ids();
  expect(await cli.run(["resume", id, "--api", "chat"], { env })).toMatchObject({ code: 0, stderr: "" });
  await cli.run(["chat", "two"], { env });
  await cli.run(["chat", "three"], { env });
  await cli.run(["resume", id, "--api", "responses"], { env });
  await cli.run(["chat", "four"], { env });
  expect(mock.requests.map(({ path, status }) => [path, status])).toEqual([
    ["/v1/responses", 200],
    ["/v1/chat/completions", 200],
    ["/v1/chat/completions", 200],
    ["/v1/responses", 200],
  ]);
});

test.each(["new", "fork"])("%s --api applies to the next chat", async (command) => {
  const mock = await mockLlm([{ text: "one" }, { text: "two" }]);
  const env = wireEnv(mock);
  const cli = await Cli.open();
  await cli.run(["chat", "--provider", "openai", "one"], { env });
  expect(await cli.run([command, "--provider", "openai", "--api", "chat"], { env })).toMatchObject({ code: 0 });
  await cli.run(["chat", "two"], { env });
  expect(mock.requests.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/chat/completions"]);
});

test("resume warns about flags the next chat will not use", async () => {
  const mock = await mockLlm([{ text: "one" }]);
  const env = wireEnv(mock);
  const cli = await Cli.open();
  await cli.run(["chat", "one"], { env });
  const flags = ["--base-url", `${mock.url}/v1`, "--sandbox", "danger-full-access"];
  expect((await cli.run(["resume", "--last", ...flags], { env })).stderr).toBe(
    "--base-url applies to this command only. Pass it to cody chat too, or save it with: cody set-provider <provider> --base-url <url>\n" +
      "--sandbox applies to this command only. Pass it to cody chat too, or save it with: cody config set sandbox danger-full-access\n",
  );
});

test("--base-url applies to one run and overrides the environment", async () => {
  const [mock, other] = [await mockLlm([{ text: "here" }]), await mockLlm([{ text: "there" }])];
  const cli = await Cli.open();
  const elsewhere = ["chat", "--base-url", `${other.url}/v1`, "Hi"];
  expect(await cli.run(elsewhere, { env: wireEnv(mock) })).toMatchObject({ stdout: "there\n" });
  expect(await cli.run(["chat", "Hi"], { env: wireEnv(mock) })).toMatchObject({ stdout: "here\n" });
});

test("any compatible server can be a provider by its address, with the key variable of its name", async () => {
  const mock = await mockLlm([{ text: "from the lab" }]);
  const cli = await Cli.open();
  await cli.run(["set-provider", "my-lab", "--base-url", `${mock.url}/v1`, "--model", "llama"]);
  const answer = await cli.run(["chat", "Hi"], { env: { MY_LAB_API_KEY: mockKey } });
  expect(answer).toMatchObject({ code: 0, stdout: "from the lab\n" });
  expect(mock.requests[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "llama" } });
});

test("OpenRouter has its own key, and Ollama its own address variable and no key", async () => {
  const mock = await mockLlm([{ text: "routed" }]);
  const cli = await Cli.open();
  await cli.run(["set-provider", "openrouter", "--base-url", `${mock.url}/v1`, "--model", "x/y"]);
  const routed = await cli.run(["chat", "Hi"], { env: { OPENROUTER_API_KEY: mockKey, OPENAI_API_KEY: "sk-other" } });
  expect(routed).toMatchObject({ code: 0, stdout: "routed\n" });
  const local = await startMockLlm({ script: [{ text: "from this machine" }] });
  onTestFinished(() => local.close());
  await cli.run(["set-provider", "ollama", "--model", "qwen3"]);
  await cli.run(["new"]);
  const env = { OLLAMA_HOST: `127.0.0.1:${local.port}`, OPENAI_API_KEY: "sk-other" };
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "from this machine\n" });
  expect(
    [...mock.requests, ...local.requests].map(({ path, body }) => [path, (body as { model: string }).model]),
  ).toEqual([
    ["/v1/chat/completions", "x/y"],
    ["/v1/chat/completions", "qwen3"],
  ]);
});

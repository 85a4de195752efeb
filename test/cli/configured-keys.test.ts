import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { MockReply } from "../../src/mock-llm/script.js";
import { startMockLlm } from "../../src/mock-llm/server.js";
import { Cli } from "../support/cli.js";

/** Not recognizable as a key by its shape. */
const key = "canary.0123456789";

async function server(script: readonly MockReply[] = [{ text: "one" }, { text: "two" }]) {
  const mock = await startMockLlm({ apiKey: key, script });
  onTestFinished(() => mock.close());
  return mock;
}

async function homeWith(config: unknown): Promise<{ cli: Cli; file: string }> {
  const cli = await Cli.open();
  const file = join(cli.home, "config.json");
  await mkdir(cli.home);
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return { cli, file };
}

/** Every file in the home except the configuration. */
async function filesExceptConfig({ home }: Cli): Promise<string> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "config.json");
  const texts = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")));
  return texts.join("\n");
}

test("a configured key and address are used by every later process", async () => {
  const mock = await server();
  const cli = await Cli.open();
  expect(await cli.run(["config", "set", "providers.openai.apiKey", "-"], { input: `${key}\n` })).toEqual({
    code: 0,
    signal: null,
    stdout: "providers.openai.apiKey = (set)\n",
    stderr: "",
  });
  await cli.run(["config", "set", "providers.openai.baseUrl", `${mock.url}/v1`]);
  const env = { OPENAI_API_KEY: "another", OPENAI_BASE_URL: "http://127.0.0.1:1/v1", ANTHROPIC_API_KEY: "another" };
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "one\n" });
  expect(await cli.run(["chat", "Hi"])).toMatchObject({ code: 0, stdout: "two\n" });
  expect(mock.requests.map(({ path, status }) => [path, status])).toEqual([
    ["/v1/responses", 200],
    ["/v1/responses", 200],
  ]);
  expect((await stat(join(cli.home, "config.json"))).mode & 0o777).toBe(0o600);
  expect(await filesExceptConfig(cli)).not.toContain(key);
});

test("an object under provider is an alias of providers", async () => {
  const mock = await server();
  const { cli, file } = await homeWith({ provider: { anthropic: { apiKey: key, baseUrl: mock.url } } });
  expect(await cli.run(["chat", "Hi"])).toMatchObject({ code: 0, stdout: "one\n" });
  expect(mock.requests.map(({ path }) => path)).toEqual(["/v1/messages"]);
  await cli.run(["config", "set", "provider.anthropic.baseUrl", "http://lab/v1"]);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    providers: { anthropic: { apiKey: key, baseUrl: "http://lab/v1" } },
  });
});

test("--base-url and baseUrl override the address of the entry, and no other provider's key is sent there", async () => {
  const [entry, other, anthropic] = [
    await server(),
    await server([{ text: "other" }, { text: "other" }]),
    await server(),
  ];
  const openai = { apiKey: key, baseUrl: `${entry.url}/v1` };
  const { cli } = await homeWith({ providers: { openai, anthropic: { apiKey: "key-of-anthropic" } } });
  const chat = (...args: string[]) => cli.run(["chat", "--no-persistence", ...args, "Hi"], { env });
  const env = { ANTHROPIC_BASE_URL: anthropic.url };
  expect(await chat("--base-url", `${other.url}/v1`)).toMatchObject({ stdout: "other\n" });
  expect(await chat("--provider", "anthropic")).toMatchObject({ code: 1, stdout: "" });
  await cli.run(["set-provider", "openai", "--base-url", `${other.url}/v1`]);
  expect(await chat()).toMatchObject({ stdout: "other\n" });
  expect(await chat("--provider", "anthropic")).toMatchObject({ code: 1, stdout: "" });
  expect(entry.requests).toEqual([]);
  expect(other.requests.map(({ status }) => status)).toEqual([200, 200]);
  expect(anthropic.requests.map(({ status }) => status)).toEqual([401, 401]);
});

test("config shows only that a key exists, and where", async () => {
  const entries = { openai: { apiKey: key }, "my-lab": { baseUrl: "http://lab/v1" } };
  const { cli } = await homeWith({ provider: "anthropic", providers: entries });
  const env = { ANTHROPIC_API_KEY: "canary-of-the-environment" };
  const all = await cli.run(["config"], { env });
  expect(all.stdout).toContain(`providers.anthropic.apiKey = (set)  (environment)
providers.my-lab.baseUrl = http://lab/v1  (config.json)
providers.openai.apiKey = (set)  (config.json)
`);
  const json = await cli.run(["config", "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({
    values: { "providers.openai.apiKey": "(set)", "providers.anthropic.apiKey": "(set)" },
    sources: { "providers.openai.apiKey": "config.json", "providers.anthropic.apiKey": "environment" },
  });
  const one = await cli.run(["config", "get", "providers.openai.apiKey"]);
  expect(one).toMatchObject({ code: 0, stdout: "(set)\n" });
  const alias = await cli.run(["config", "get", "provider.openai.apiKey", "--json"]);
  expect(alias.stdout).toBe('"(set)"\n');
  const none = await cli.run(["config", "get", "providers.openrouter.apiKey"]);
  expect(none).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is not set") });
  for (const { stdout, stderr } of [all, json, one, alias, none]) expect(stdout + stderr).not.toContain("canary");
});

test("a key passed as an argument is accepted with a warning about the shell's history", async () => {
  const cli = await Cli.open();
  const { stdout, stderr } = await cli.run(["config", "set", "providers.openai.apiKey", key, "--json"]);
  expect(JSON.parse(stdout)).toEqual({ "providers.openai.apiKey": "(set)" });
  expect(stderr).toContain("cody config set providers.openai.apiKey -");
  expect(stderr).not.toContain(key);
  expect(JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"))).toEqual({
    providers: { openai: { apiKey: key } },
  });
  await cli.run(["config", "set", "sandbox", "read-only"]);
  expect(await cli.run(["config", "unset", "providers.openai.apiKey"])).toMatchObject({
    code: 0,
    stdout: "✓ Unset: providers.openai.apiKey\n",
  });
  expect(JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"))).toEqual({ sandbox: { mode: "read-only" } });
});

test.each([
  [["set", "providers.openai.apiKey", "-"], "", "No key on stdin"],
  [["set", "providers.openai.apiKey", "-"], "canary with blanks\n", "a key must be one word"],
  [["set", "providers.openai.apiKey", "canary with blanks"], "", "a key must be one word"],
  [["set", "providers.openai.apiKey"], "", "Missing value for providers.openai.apiKey"],
  [["set", "providers.openai.key", "canary"], "", "Unknown key 'providers.openai.key'"],
  [["set", "providers.Open AI.apiKey", "canary"], "", "Unknown key"],
  [["set", "providers.openai.baseUrl", "canary"], "", "expected an http or https URL"],
  [["unset"], "", "Missing setting name"],
])("config %j with %j on stdin is rejected without printing a key", async (args, input, text) => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["config", ...args], { input });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) });
  expect(stderr).not.toContain("canary");
});

test("a key in a file that others can read causes a warning with the fix", async () => {
  const { cli, file } = await homeWith({ provider: "offline", providers: { openai: { apiKey: key } } });
  const warning = `Other users can read config.json, which contains a key. Run: chmod 600 ${file}\n`;
  await chmod(file, 0o644);
  const answered = await cli.run(["chat", "What is 6 * 7?"]);
  expect(answered).toMatchObject({ code: 0, stdout: "6 * 7 = 42\n" });
  expect(answered.stderr.split(warning)).toHaveLength(2);
  expect((await cli.run(["config", "get", "model"])).stderr).toBe(warning);
  await chmod(file, 0o600);
  expect((await cli.run(["chat", "What is 6 * 7?"])).stderr).not.toContain("chmod");
});

test("a configured key appears in no message and no log", async () => {
  const fault = {
    type: "status",
    status: 400,
    message: `no such thing: ${Buffer.from(key).toString("base64")}`,
  } as const;
  const mock = await server([{ fault }]);
  const { cli } = await homeWith({ providers: { openai: { apiKey: key, baseUrl: `${mock.url}/v1` } } });
  const { code, stdout, stderr } = await cli.run(["chat", "Hi"], { env: { CODY_DEBUG: "1" } });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no such thing: [redacted]") });
  expect(stdout + stderr + (await filesExceptConfig(cli))).not.toContain(key);
});

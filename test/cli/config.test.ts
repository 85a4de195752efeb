import { spawn } from "node:child_process";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockLlm } from "../../src/mock-llm/server.js";
import { Cli, commandOf, finished } from "../support/cli.js";

test("config shows each effective value and its source", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "sandbox", "read-only"]);
  const { code, stdout } = await cli.run(["config", "--model", "offline"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`provider = offline  (default)
api = (not set)  (default)
model = offline  (flag)
baseUrl = (not set)  (default)
auth = (not set)  (default)
approvalPolicy = on-request  (default)
sandbox.mode = read-only  (config.json)
sandbox.writableRoots = (not set)  (default)
sandbox.network = off  (default)
sandbox.unixSockets = off  (default)
turnLimits.steps = 200  (default)
turnLimits.seconds = 3600  (default)
turnLimits.tokens = 10000000  (default)
turnLimits.cost = (not set)  (default)
turnLimits.answerBytes = 8388608  (default)
turnLimits.turnBytes = 67108864  (default)
turnLimits.approvalSeconds = 86400  (default)
turnLimits.identicalFailures = 3  (default)
compaction.enabled = true  (default)
compaction.strategy = (not set)  (default)
compaction.mode = blocking  (default)
compaction.ratio = 0.8  (default)
compaction.tokenLimit = (not set)  (default)
compaction.reserveTokens = (not set)  (default)
compaction.keepRecentTokens = 20000  (default)
compaction.keepTurns = 5  (default)
compaction.userMessageTokens = 20000  (default)
compaction.preserveToolResults = recent  (default)
compaction.onFailure = keep  (default)
compaction.prompt = (not set)  (default)
contextWindow = (not set)  (default)
systemPrompt = (not set)  (default)
instructions = (not set)  (default)
knowledge.enabled = true  (default)
knowledge.injectionBudget = 8192  (default)
toolEnv = (not set)  (default)
redaction.sensitivePatterns = password,passwd,passphrase,api_key,secret,secret_key,access_key,private_key,client_secret,token,authorization  (default)
redaction.shapes = false  (default)
history.maxSize = 1000  (default)
export.directory = ${join(cli.project, "Downloads")}  (default)
terminal.screen = true  (default)
terminal.theme = auto  (default)
terminal.keys = emacs  (default)
terminal.notifications = auto  (default)
persistence.enabled = true  (default)
persistence.layout = cody  (default)
persistence.directory = ${cli.conversations}  (default)
persistence.retentionDays = 30  (default)
persistence.maxConversationsPerProject = 100  (default)
persistence.maxFileMegabytes = (not set)  (default)
persistence.maxBlobMegabytes = 100  (default)
`);
});

test("config get prints only the value", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "get", "persistence.enabled"])).toMatchObject({ code: 0, stdout: "true\n" });
  expect(await cli.run(["config", "get", "api"])).toMatchObject({ code: 1, stdout: "", stderr: "api is not set\n" });
});

test("config get prints the default sandbox even when a key is missing", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "get", "sandbox", "--provider", "openai"])).toMatchObject({
    code: 0,
    stdout: "workspace-write\n",
    stderr: expect.stringContaining("OPENAI_API_KEY"),
  });
});

test("config path prints the path of the configuration file", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["config", "path"])).stdout).toBe(`${join(cli.home, "config.json")}\n`);
});

test("persistence can be disabled permanently", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "set", "persistence.enabled", "false"])).toMatchObject({
    code: 0,
    stdout: "persistence.enabled = false\n",
  });
  await cli.run(["chat", "hello"]);
  expect(await cli.ids()).toEqual([]);
});

test("history.saveHistory is an alias of persistence.enabled", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "set", "history.saveHistory", "false"])).toMatchObject({
    code: 0,
    stdout: "persistence.enabled = false\n",
  });
  await cli.run(["chat", "hello"]);
  await writeFile(join(cli.home, "config.json"), JSON.stringify({ history: { saveHistory: false } }));
  await cli.run(["chat", "hello"]);
  expect(await cli.ids()).toEqual([]);
});

test("the number of turns the model sees can be set and unset", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "history.maxSize", "3"]);
  expect((await cli.run(["config", "get", "history.maxSize"])).stdout).toBe("3\n");
  await cli.run(["config", "unset", "history.maxSize"]);
  expect((await cli.run(["config", "get", "history.maxSize"])).stdout).toBe("1000\n");
});

test("a YAML configuration is shown, edited and located like a JSON one", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  const path = join(cli.home, "config.yaml");
  await writeFile(path, "# mine\nsandbox: read-only # for now\npersistence:\n  directory: elsewhere\n", {
    mode: 0o600,
  });
  const { stdout } = await cli.run(["config"]);
  expect(stdout).toContain("sandbox.mode = read-only  (config.yaml)\n");
  expect((await cli.run(["config", "path"])).stdout).toBe(`${path}\n`);
  await cli.run(["config", "set", "history.maxSize", "3"]);
  expect(await readFile(path, "utf8")).toBe(
    "# mine\nsandbox: read-only # for now\npersistence:\n  directory: elsewhere\nhistory:\n  maxSize: 3\n",
  );
  const id = (await cli.run(["new"])).stdout.trim();
  expect(await readdir(join(cli.home, "elsewhere"))).toContain(`${id}.jsonl`);
  expect((await cli.run(["list"])).stdout).toContain(id);
  expect(await cli.run(["doctor"])).toMatchObject({ code: 0 });
});

test("two configuration files are an error", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  for (const name of ["config.yaml", "config.jsonc"]) await writeFile(join(cli.home, name), "{}", { mode: 0o600 });
  const problem = `✗ config.jsonc and config.yaml are both in ${cli.home}. Keep only one of them\n`;
  for (const command of [["list"], ["chat", "hello"], ["config", "set", "model", "m"]]) {
    expect(await cli.run(command)).toMatchObject({ code: 2, stdout: "", stderr: problem });
  }
  expect(await cli.run(["doctor"])).toMatchObject({ code: 1, stdout: expect.stringContaining(problem) });
});

test("turn limits are set one by one and read back as numbers", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "set", "turnLimits.steps", "50"])).toMatchObject({
    code: 0,
    stdout: "turnLimits.steps = 50\n",
  });
  await cli.run(["config", "set", "turnLimits.seconds", "0.5"]);
  const { stdout } = await cli.run(["config"]);
  expect(stdout).toContain("turnLimits.steps = 50  (config.json)\nturnLimits.seconds = 0.5  (config.json)\n");
  expect(stdout).toContain("turnLimits.tokens = 10000000  (default)\n");
  expect(JSON.parse((await cli.run(["config", "get", "turnLimits.steps", "--json"])).stdout)).toBe(50);
});

test("toolEnv is a comma-separated list of names", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "toolEnv", "CARGO_HOME, GOPATH"]);
  expect((await cli.run(["config", "get", "toolEnv"])).stdout).toBe("CARGO_HOME,GOPATH\n");
  expect(JSON.parse((await cli.run(["config", "get", "toolEnv", "--json"])).stdout)).toEqual(["CARGO_HOME", "GOPATH"]);
});

test("list reads the directory set in config.json", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "persistence.directory", "kept"]);
  await cli.run(["chat", "hello"]);
  expect(await cli.ids()).toEqual([]);
  expect((await cli.run(["list"])).stdout).toContain("Total: 1 conversation(s)");
});

test.each([
  [["set", "api", "soap"], 'one of "responses", "chat", "messages"'],
  [["set", "persistence.enabled", "maybe"], "must be true or false"],
  [["set", "provider", "Open AI"], "lower-case word"],
  [["set", "turnLimits.steps", "0"], "turnLimits.steps"],
  [["set", "turnLimits.steps", "many"], "number"],
  [["set", "turnLimits.answerBytes", "1000"], "turnLimits.answerBytes"],
  [["set", "turnLimits.turnBytes", "300000000"], "turnLimits.turnBytes"],
  [["set", "toolEnv", "A,B=C"], "toolEnv.1"],
  [["set", "frob", "1"], "Keys: provider, api, model"],
  [["set", "model"], "Missing value for model"],
  [["get"], "Missing setting name"],
  [["get", "frob"], "Unknown key 'frob'"],
  [["frob"], "Unknown action 'frob'"],
])("config %j is rejected with the allowed values", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(["config", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
});

test("set-provider is saved, warns about a missing key, and removes the old model", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["set-provider", "openai", "--api", "chat", "--model", "4"])).toMatchObject({
    code: 0,
    stdout: "✓ Provider set: openai\n  API: chat\n  Model: 4\n",
    stderr: expect.stringContaining("OPENAI_API_KEY environment variable is required"),
  });
  const file = join(cli.home, "config.json");
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ provider: "openai", api: "chat", model: "4" });
  expect(await cli.run(["chat", "hello"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("https://platform.openai.com/api-keys"),
  });
  expect(await cli.run(["chat", "--provider", "offline", "What is 6 * 7?"])).toMatchObject({ stdout: "6 * 7 = 42\n" });
  expect(await cli.run(["set-provider", "offline"])).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ provider: "offline" });
  expect(await cli.run(["chat", "What is 6 * 7?"])).toMatchObject({ code: 0, stdout: "6 * 7 = 42\n" });
});

test.each([
  [["set-provider", "offline"]],
  [["set-auth", "openai-api-key"]],
  [["config", "set", "sandbox", "read-only"]],
  [["mcp", "add", "notes", "--", "node"]],
])("%j reports which file could not be changed, and why", async (args) => {
  const cli = await Cli.open();
  const file = join(cli.home, "config.json");
  await cli.run(["set-provider", "openai", "--model", "4"]);
  const before = await readFile(file, "utf8");
  const [program, ...others] = commandOf(args);
  const limited = ["-c", 'ulimit -f 0; exec "$0" "$@"', program, ...others];
  const child = spawn("sh", limited, { cwd: cli.project, env: cli.env, stdio: "pipe" });
  child.stdin.end();
  expect(await finished(child)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `✗ Cannot change ${file}: the file would be too large\n`,
  });
  expect(await readFile(file, "utf8")).toBe(before);
});

test("set-provider --base-url is saved, shown, and removed with its provider", async () => {
  const cli = await Cli.open();
  const lab = ["set-provider", "my-lab", "--base-url", "http://lab:8000/v1", "--model", "m"];
  expect(await cli.run(lab)).toMatchObject({
    code: 0,
    stdout: "✓ Provider set: my-lab\n  Model: m\n  Base URL: http://lab:8000/v1\n",
    stderr: "",
  });
  const shown = "provider = my-lab  (config.json)\napi = chat  (default)\nmodel = m  (config.json)\n";
  expect((await cli.run(["config"])).stdout).toContain(`${shown}baseUrl = http://lab:8000/v1  (config.json)\n`);
  const once = await cli.run(["config", "get", "baseUrl", "--base-url", "http://other/v1"]);
  expect(once.stdout).toBe("http://other/v1\n");
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://env/v1" };
  expect((await cli.run(["config", "get", "baseUrl", "--provider", "openai"], { env })).stdout).toBe("http://env/v1\n");
  await cli.run(["set-provider", "openai"], { env });
  expect((await cli.run(["config"], { env })).stdout).toContain("baseUrl = http://env/v1  (environment)\n");
  expect(JSON.parse(await readFile(join(cli.home, "config.json"), "utf8"))).toEqual({ provider: "openai" });
});

test.each([
  [["set-provider", "anthropic", "--api", "chat"], "anthropic supports the messages API, not chat"],
  [["set-provider", "openai", "--base-url", "lab"], "--base-url: expected an http or https URL"],
])("%j is rejected and nothing is saved", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
  await expect(readFile(join(cli.home, "config.json"))).rejects.toThrow("ENOENT");
});

test("set-provider rejects an unknown provider and suggests the nearest one", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["set-provider", "opnai"])).toEqual({
    code: 2,
    signal: null,
    stdout: "",
    stderr: [
      "✗ Unknown provider 'opnai'. Did you mean openai?",
      "  Known providers: anthropic, offline, ollama, openai, openrouter",
      "  To add a provider of your own: cody set-provider opnai --base-url <url> --model <model>",
      "",
    ].join("\n"),
  });
  await expect(readFile(join(cli.home, "config.json"))).rejects.toThrow("ENOENT");
  const far = await cli.run(["set-provider", "frobnicate"]);
  expect(far).toMatchObject({ code: 2, stderr: expect.stringMatching(/^✗ Unknown provider 'frobnicate'\n/) });
});

test("set-provider accepts a configured custom provider and lists it as known", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "providers.my-lab.baseUrl", "http://lab:8000/v1"]);
  expect(await cli.run(["set-provider", "my-lab", "--model", "m"])).toMatchObject({ code: 0, stderr: "" });
  expect((await cli.run(["set-provider", "my-lap"])).stderr).toMatch(
    /^✗ Unknown provider 'my-lap'. Did you mean my-lab\?\n {2}Known providers: anthropic, my-lab, offline, /,
  );
});

test("set-provider needs no key when a login is selected in the configuration or the environment", async () => {
  const cli = await Cli.open();
  await cli.run(["set-auth", "chatgpt-oauth"]);
  expect(await cli.run(["set-provider", "openai"])).toMatchObject({ code: 0, stderr: "" });
  await cli.run(["config", "unset", "auth"]);
  const env = { CODY_AUTH: "chatgpt-oauth" };
  expect(await cli.run(["set-provider", "openai"], { env })).toMatchObject({ code: 0, stderr: "" });
});

test("set-provider mentions an existing login that is not selected instead of requiring a key", async () => {
  const cli = await Cli.open();
  await mkdir(join(cli.project, ".codex"));
  const tokens = { access_token: "token-canary", refresh_token: "refresh-canary" };
  await writeFile(join(cli.project, ".codex", "auth.json"), JSON.stringify({ tokens }), { mode: 0o600 });
  expect(await cli.run(["set-provider", "openai"])).toMatchObject({
    code: 0,
    stderr: "No API key for openai is set. To use your ChatGPT login: cody set-auth chatgpt-oauth\n",
  });
});

test("set-provider fixes a damaged configuration and keeps a backup", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  await writeFile(join(cli.home, "config.json"), "{damaged");
  const { code, stderr } = await cli.run(["set-provider", "offline"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("config.json.invalid") });
  expect(await readFile(join(cli.home, "config.json.invalid"), "utf8")).toBe("{damaged");
});

test("set-auth is saved, rejects unknown methods, and never stores a key", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["set-auth", "openai-api-key"])).toMatchObject({
    code: 0,
    stdout: "✓ Auth method set: openai-api-key\n",
    stderr: "OPENAI_API_KEY is not set yet\n",
  });
  expect((await cli.run(["config", "get", "auth"])).stdout).toBe("openai-api-key\n");
  const env = { OPENAI_API_KEY: "sk-canary-1234567890" };
  expect((await cli.run(["set-auth", "chatgpt-oauth"], { env })).stderr).toBe(
    "No ChatGPT login found yet. Run: cody login\n",
  );
  expect(await readFile(join(cli.home, "config.json"), "utf8")).not.toContain("canary");
  expect(await cli.run(["set-auth", "magic"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "Methods: openai-api-key, anthropic-api-key, openrouter-api-key, chatgpt-oauth, claude-oauth",
    ),
  });
});

test("set-auth selects which of two keys later processes use", async () => {
  const mock = await startMockLlm({ script: [{ text: "one" }, { text: "two" }] });
  onTestFinished(() => mock.close());
  const cli = await Cli.open();
  const env = {
    OPENAI_API_KEY: "key-of-openai",
    OPENAI_BASE_URL: `${mock.url}/v1`,
    ANTHROPIC_API_KEY: "key-of-anthropic",
    ANTHROPIC_BASE_URL: mock.url,
  };
  await cli.run(["set-auth", "anthropic-api-key"]);
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "one\n" });
  await cli.run(["set-auth", "openai-api-key"]);
  await cli.run(["new"], { env });
  expect(await cli.run(["chat", "Hi"], { env })).toMatchObject({ code: 0, stdout: "two\n" });
  expect(mock.requests.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/responses"]);
});

test("config --explain shows every source of each setting", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "sandbox", "read-only"]);
  const env = { CODY_SANDBOX: "workspace-write", CODY_COMPACTION_KEEP_TURNS: "3" };
  const { stdout } = await cli.run(["config", "--explain", "--sandbox", "danger-full-access"], { env });
  expect(stdout).toBe(`sandbox.mode = danger-full-access
  a flag: danger-full-access
  CODY_SANDBOX: workspace-write
  ${join(cli.home, "config.json")}: read-only
compaction.keepTurns = 3
  CODY_COMPACTION_KEEP_TURNS: 3
`);
  const shown = await cli.run(["config", "--explain", "--json"]);
  const said = [{ source: "config.json", value: "read-only" }];
  expect(JSON.parse(shown.stdout)).toEqual([{ key: "sandbox.mode", value: "read-only", said }]);
});

test("config shows each value inside tables with its source", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  const config = {
    models: { "lab-4.1": { provider: "my-lab", price: { input: 1, output: 2 }, aliases: ["lab", "big"] }, bare: {} },
    limits: { openai: { concurrency: 3 } },
    logins: { chatgpt: { issuer: "https://login.example" } },
    mcp_servers: { files: { command: "files", args: ["-v", "here"], startup_timeout_sec: 5 } },
    providers: { openai: { baseUrl: "http://lab/v1" } },
  };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const expected = {
    "limits.openai.concurrency": 3,
    "logins.chatgpt.issuer": "https://login.example",
    "mcp_servers.files.args": ["-v", "here"],
    "mcp_servers.files.command": "files",
    "mcp_servers.files.startup_timeout_sec": 5,
    "models.bare": {},
    "models.lab-4.1.aliases": ["lab", "big"],
    "models.lab-4.1.price.input": 1,
    "models.lab-4.1.price.output": 2,
    "models.lab-4.1.provider": "my-lab",
    "providers.openai.baseUrl": "http://lab/v1",
  };
  const lines = Object.entries(expected);
  const { stdout } = await cli.run(["config"]);
  const shown = lines.map(([key, value]) => `${key} = ${textOf(value)}  (config.json)\n`);
  expect(stdout.slice(stdout.indexOf("limits."))).toBe(shown.join(""));
  const explained = await cli.run(["config", "--explain"]);
  const file = join(cli.home, "config.json");
  expect(explained.stdout).toBe(
    lines.map(([key, value]) => `${key} = ${textOf(value)}\n  ${file}: ${textOf(value)}\n`).join(""),
  );
  expect(JSON.parse((await cli.run(["config", "--json"])).stdout)).toMatchObject({
    values: expected,
    sources: Object.fromEntries(Object.keys(expected).map((key) => [key, "config.json"])),
  });
  expect(JSON.parse((await cli.run(["config", "--explain", "--json"])).stdout)).toEqual(
    Object.entries(expected).map(([key, value]) => {
      return { key, value, said: [{ source: "config.json", value: textOf(value) }] };
    }),
  );
  expect(await cli.run(["config", "get", "limits.openai.concurrency"])).toMatchObject({ code: 0, stdout: "3\n" });
  expect(await cli.run(["config", "get", "limits.openai.frob"])).toMatchObject({ code: 1, stdout: "" });
  expect(await cli.run(["config", "set", "limits.openai.concurrency", "4"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "limits.openai.concurrency cannot be changed with cody config; edit the config file",
    ),
  });
});

function textOf(value: string | number | string[] | object): string {
  return typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : String(value);
}

test("a server in both configurations is shown from the project, with the overridden one mentioned", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  await mkdir(join(cli.project, ".cody"));
  const own = { mcp_servers: { files: { command: "mine", args: ["-v"] }, web: { url: "https://web.example/mcp" } } };
  const ofProject = { model: "gpt-4o", mcp_servers: { files: { command: "theirs" } } };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(own), { mode: 0o600 });
  await writeFile(join(cli.project, ".cody", "config.json"), JSON.stringify(ofProject));
  const untrusted = await cli.run(["config"]);
  expect(untrusted.stdout).toContain("mcp_servers.files.command = mine  (config.json)\n");
  expect(untrusted.stdout).not.toContain("theirs");
  await cli.run(["trust"]);
  const env = { OPENAI_API_KEY: "canary-key-of-openai", OPENAI_BASE_URL: "https://proxy.example/v1" };
  expect((await cli.run(["config", "--explain"], { env })).stdout).toBe(`model = gpt-4o
  .cody/config.json of the project: gpt-4o
mcp_servers.files.command = theirs
  .cody/config.json of the project: theirs
  ${join(cli.home, "config.json")}: mine
mcp_servers.web.url = https://web.example/mcp
  ${join(cli.home, "config.json")}: https://web.example/mcp
providers.openai.apiKey = (set)
  OPENAI_API_KEY: (set)
providers.openai.baseUrl = https://proxy.example/v1
  OPENAI_BASE_URL: https://proxy.example/v1
mcp_servers.files.args = (not set)
  ${join(cli.home, "config.json")}: -v
`);
});

test("config shows no secret from any place in the configuration", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { mode: 0o700 });
  await mkdir(join(cli.project, ".cody"));
  const config = {
    instructions: "The password: canary-1",
    providers: { openai: { apiKey: "canary-2", baseUrl: "http://lab/v1?key=canary-3" } },
    mcp_servers: {
      files: {
        command: "files",
        args: [
          "--token",
          "canary-4",
          "--api-key=canary-5",
          "-e",
          "GITHUB_TOKEN=canary-6",
          "db://me:canary-7@host/",
          "-v",
        ],
        env: { MODE: "canary-8" },
      },
      web: { url: "https://web.example/mcp?t=canary-9", http_headers: { "X-Mode": "canary-10" } },
    },
  };
  const ofProject = { mcp_servers: { theirs: { command: "x", env: { A_TOKEN: "canary-11" }, args: ["canary-11"] } } };
  await writeFile(join(cli.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  await writeFile(join(cli.project, ".cody", "config.json"), JSON.stringify(ofProject));
  await cli.run(["trust"]);
  const env = { ANTHROPIC_API_KEY: "canary-12", OPENAI_BASE_URL: "http://me:canary-13@lab/v1?x=canary-14" };
  for (const args of [[], ["--json"], ["--explain"], ["--explain", "--json"], ["get", "mcp_servers.files.args"]]) {
    const { code, stdout, stderr } = await cli.run(["config", ...args], { env });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("canary");
    expect(stdout).toContain("GITHUB_TOKEN=[redacted]");
  }
  const { stdout } = await cli.run(["config"], { env });
  expect(stdout).toContain("mcp_servers.files.env.MODE = (set)  (config.json)\n");
  expect(stdout).toContain("mcp_servers.web.http_headers.X-Mode = (set)  (config.json)\n");
  expect(stdout).toContain("mcp_servers.web.url = https://web.example/mcp?t=[redacted]  (config.json)\n");
  expect(stdout).toContain("mcp_servers.theirs.env.A_TOKEN = (set)  (.cody/config.json)\n");
  expect(stdout).toContain("providers.anthropic.apiKey = (set)  (environment)\n");
});

test("config --explain with nothing configured", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["config", "--explain"])).stdout).toBe("All settings have their default values.\n");
});

test("a misspelled setting gets a suggestion", async () => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["config", "set", "compaction.keepTurn", "3"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Did you mean compaction.keepTurns?");
});

test("a misspelled setting variable gets one warning and is not an error", async () => {
  const cli = await Cli.open();
  const env = { CODY_MODLE: "gpt-5", CODY_COLOUR: "red", CODY_DEBUG: "1", OPENAI_API_KEY: "k" };
  const warning = "Unknown variable CODY_MODLE is ignored. Did you mean CODY_MODEL?\n";
  expect(await cli.run(["config", "get", "model"], { env })).toMatchObject({
    code: 0,
    stdout: "gpt-5.4\n",
    stderr: warning,
  });
  const { stderr } = await cli.run(["chat", "--provider", "offline", "hello"], { env });
  expect(stderr.split(warning)).toHaveLength(2);
  expect(await cli.run(["list"], { env })).toMatchObject({ code: 0, stderr: "" });
  expect(await cli.run(["--version"], { env })).toMatchObject({ code: 0, stderr: "" });
});

test("chat warns about an unknown key and continues; config set keeps it", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { recursive: true });
  const path = join(cli.home, "config.json");
  await writeFile(path, '{ "modle": "x", "provider": "offline" }', { mode: 0o600 });
  const warning = "config.json: unknown key modle is ignored. Did you mean model?\n";
  const { code, stdout, stderr } = await cli.run(["chat", "hello"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("I heard: hello") });
  expect(stderr.split(warning)).toHaveLength(2);
  expect(stderr).not.toContain("set-provider");
  expect(await cli.run(["config", "set", "api", "chat"])).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ modle: "x", provider: "offline", api: "chat" });
});

test("a misspelled key is shown as written, not redacted as a secret", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { recursive: true });
  await writeFile(join(cli.home, "config.yaml"), "providers: { openai: { apikey: sk-something-secret } }\n");
  const { stderr } = await cli.run(["config"]);
  expect(stderr).toContain("config.yaml: unknown key providers.openai.apikey");
  expect(stderr).not.toContain("sk-something");
});

test("a configuration that is a symlink remains one", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home, { recursive: true });
  const elsewhere = join(cli.project, "dotfiles.yaml");
  await writeFile(elsewhere, "# mine\nmodel: gpt-4o\n");
  await symlink(elsewhere, join(cli.home, "config.yaml"));
  await cli.run(["config", "set", "sandbox", "read-only"]);
  expect((await lstat(join(cli.home, "config.yaml"))).isSymbolicLink()).toBe(true);
  expect(await readFile(elsewhere, "utf8")).toBe("# mine\nmodel: gpt-4o\nsandbox:\n  mode: read-only\n");
});

test("config get rejects a group of settings", async () => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["config", "get", "mcp_servers"]);
  expect(code).toBe(2);
  expect(stderr).toContain("mcp_servers is a group of settings\n");
});

test("config set rejects an unknown provider", async () => {
  const cli = await Cli.open();
  const { code, stderr } = await cli.run(["config", "set", "provider", "opnai"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Did you mean openai?") as string });
});

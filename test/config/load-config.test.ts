import { execFile } from "node:child_process";
import { chmod, mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function homeWith(config: unknown): Promise<string> {
  const home = await temporaryFolder();
  await writeFile(join(home, "config.json"), typeof config === "string" ? config : JSON.stringify(config));
  return home;
}

const allDefault = {
  provider: "default",
  api: "default",
  model: "default",
  baseUrl: "default",
  approvalPolicy: "default",
  auth: "default",
  "sandbox.mode": "default",
  "sandbox.writableRoots": "default",
  "sandbox.network": "default",
  "sandbox.unixSockets": "default",
  "turnLimits.steps": "default",
  "turnLimits.seconds": "default",
  "turnLimits.cost": "default",
  "turnLimits.tokens": "default",
  "turnLimits.answerBytes": "default",
  "turnLimits.turnBytes": "default",
  "turnLimits.approvalSeconds": "default",
  "turnLimits.identicalFailures": "default",
  "compaction.enabled": "default",
  "compaction.strategy": "default",
  "compaction.mode": "default",
  "compaction.ratio": "default",
  "compaction.tokenLimit": "default",
  "compaction.reserveTokens": "default",
  "compaction.keepRecentTokens": "default",
  "compaction.keepTurns": "default",
  "compaction.userMessageTokens": "default",
  "compaction.preserveToolResults": "default",
  "compaction.onFailure": "default",
  "compaction.prompt": "default",
  contextWindow: "default",
  systemPrompt: "default",
  instructions: "default",
  "knowledge.enabled": "default",
  "knowledge.injectionBudget": "default",
  toolEnv: "default",
  "redaction.sensitivePatterns": "default",
  "redaction.shapes": "default",
  "history.maxSize": "default",
  "export.directory": "default",
  "terminal.screen": "default",
  "terminal.theme": "default",
  "terminal.keys": "default",
  "terminal.notifications": "default",
  "persistence.enabled": "default",
  "persistence.layout": "default",
  "persistence.directory": "default",
  "persistence.retentionDays": "default",
  "persistence.maxConversationsPerProject": "default",
  "persistence.maxFileMegabytes": "default",
  "persistence.maxBlobMegabytes": "default",
};

test("without a file every setting has its default", async () => {
  const home = join(await temporaryFolder(), "missing");
  expect(await loadConfig({ home, env: {}, flags: {} })).toMatchObject({
    file: "config.json",
    values: { persistence: { enabled: true, layout: "cody", directory: join(home, "conversations") } },
    sources: allDefault,
  });
});

test("a flag overrides the file, the file overrides the default, and each value has its source", async () => {
  const home = await homeWith({ provider: "openai", model: "gpt-4o", persistence: { directory: "elsewhere" } });
  const sandbox = { mode: "read-only" } as const;
  const flags = { model: "o3", sandbox, provider: undefined, persistence: { enabled: false } };
  expect(await loadConfig({ home, env: {}, flags })).toMatchObject({
    file: "config.json",
    values: {
      provider: "openai",
      model: "o3",
      sandbox,
      persistence: { enabled: false, layout: "cody", directory: join(home, "elsewhere") },
    },
    sources: {
      ...allDefault,
      provider: "config.json",
      model: "flag",
      "sandbox.mode": "flag",
      "persistence.enabled": "flag",
      "persistence.directory": "config.json",
    },
  });
});

test("settings for one provider do not apply to another", async () => {
  const file = { provider: "openai", api: "chat", model: "m", baseUrl: "http://lab/v1", sandbox: "read-only" };
  const home = await homeWith(file);
  const persistence = { enabled: true, layout: "cody", directory: join(home, "conversations") };
  expect(await loadConfig({ home, env: {}, flags: { provider: "ollama" } })).toMatchObject({
    file: "config.json",
    values: { provider: "ollama", sandbox: { mode: "read-only" }, persistence },
    sources: { ...allDefault, provider: "flag", "sandbox.mode": "config.json" },
  });
  const { values } = await loadConfig({ home, env: {}, flags: { provider: "openai", baseUrl: "http://other/v1" } });
  expect(values).toEqual({ ...file, sandbox: { mode: "read-only" }, baseUrl: "http://other/v1", persistence });
});

test("a base URL without a provider belongs to the provider with a key and goes to no other", async () => {
  const home = await homeWith({ baseUrl: "http://lab/v1" });
  const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
  const addressFor = async (provider: string) => (await loadConfig({ home, env, flags: { provider } })).values.baseUrl;
  expect(await addressFor("openai")).toBe("http://lab/v1");
  expect(await addressFor("anthropic")).toBeUndefined();
});

const entries = { openai: { apiKey: "sk-1", baseUrl: "http://lab/v1" }, anthropic: { apiKey: "sk-2" } };

test.each([
  [{ providers: entries }, entries],
  [{ provider: entries }, entries],
  [
    { provider: entries, providers: { openai: { apiKey: "sk-3" }, openrouter: { apiKey: "sk-4" } } },
    { ...entries, openai: { apiKey: "sk-3", baseUrl: "http://lab/v1" }, openrouter: { apiKey: "sk-4" } },
  ],
])("the provider entries of %j are read", async (config, providers) => {
  const { values } = await loadConfig({ home: await homeWith(config), env: {}, flags: {} });
  expect(values).toEqual({ providers, persistence: expect.anything() });
});

test.each([
  [0o600, { providers: entries }, false],
  [0o640, { providers: entries }, true],
  [0o604, { providers: entries }, true],
  [0o644, { providers: { openai: { baseUrl: "http://lab/v1" } } }, false],
])("a file of mode %o with %j is exposed: %j", async (mode, config, exposed) => {
  const home = await homeWith(config);
  const file = join(home, "config.json");
  await chmod(file, mode);
  expect((await loadConfig({ home, env: {}, flags: {} })).exposed).toBe(exposed ? file : undefined);
});

test("layout codex uses the directory of Codex's rollouts", async () => {
  const home = await homeWith({ persistence: { layout: "codex" } });
  expect(await loadConfig({ home, codexHome: "/codex", env: {}, flags: {} })).toMatchObject({
    file: "config.json",
    values: { persistence: { enabled: true, layout: "codex", directory: "/codex/sessions" } },
    sources: { ...allDefault, "persistence.layout": "config.json" },
  });
});

test("turn limits are merged one by one from the flags and the file", async () => {
  const home = await homeWith({ turnLimits: { steps: 5, seconds: 60 }, toolEnv: ["GOPATH"] });
  expect(await loadConfig({ home, env: {}, flags: { turnLimits: { steps: 7 } } })).toMatchObject({
    values: { turnLimits: { steps: 7, seconds: 60 }, toolEnv: ["GOPATH"] },
    sources: {
      ...allDefault,
      "turnLimits.steps": "flag",
      "turnLimits.seconds": "config.json",
      toolEnv: "config.json",
    },
  });
});

test.each([
  [{ turnLimits: { steps: 1.5 } }, "config.json: turnLimits.steps: expected int"],
  [{ model: 7 }, "config.json: model: expected string"],
  [{ persistence: { enabled: 1 } }, "config.json: persistence.enabled: expected boolean"],
  [{ api: "soap" }, "config.json: api: expected one of responses, chat, messages"],
  [{ provider: "Open AI" }, "config.json: provider: a provider's name must be a lower-case word"],
  [{ providers: { openai: "sk-secret" } }, "config.json: providers.openai: expected object"],
  [
    { provider: { openai: { apiKey: "sk secret" } } },
    "config.json: providers.openai.apiKey: a key must be one word of visible ASCII characters",
  ],
  [{ providers: { "Open AI": {} } }, "config.json: providers.Open AI: a provider's name must be a lower-case word"],
  [{ provider: {}, providers: 7 }, "config.json: providers: expected record"],
  [[], "config.json: expected object"],
  ['{"model": sk-secret}', "config.json: invalid JSON in line 1, column 11: text must be in double quotes"],
  [
    '{\n  "model": "o3",\n}',
    "config.json: invalid JSON in line 3, column 1: the name of a setting is missing, or there is an extra comma before it",
  ],
  ['{"model": "o3"', "config.json: invalid JSON in line 1, column 15: a } is missing"],
  [
    "{} // mine",
    "config.json: invalid JSON in line 1, column 4: comments are only allowed in config.jsonc: rename the file",
  ],
])("the file %j is rejected with its key and a hint", async (config, message) => {
  const home = await homeWith(config);
  await expect(loadConfig({ home, env: {}, flags: {} })).rejects.toMatchObject({
    name: "InvalidInputError",
    message: `${message}. Fix it in ${join(home, "config.json")}`,
  });
});

test.each([
  [{ colour: "red" }, ["config.json: unknown key colour is ignored."]],
  [
    { modle: "gpt-4o", persistence: { enable: false } },
    [
      "config.json: unknown key persistence.enable is ignored. Did you mean persistence.enabled?",
      "config.json: unknown key modle is ignored. Did you mean model?",
    ],
  ],
  [{ history: { size: 3 } }, ["config.json: unknown key history.size is ignored."]],
  [{ providers: { openai: { key: "sk-secret" } } }, ["config.json: unknown key providers.openai.key is ignored."]],
  [
    { mcp_servers: { files: { command: "files", type: "stdio" } } },
    ["config.json: unknown key mcp_servers.files.type is ignored."],
  ],
])("unknown keys are ignored with a warning: %j", async (config, warnings) => {
  const home = await homeWith({ ...config, api: "chat" });
  const loaded = await loadConfig({ home, env: {}, flags: {} });
  expect(loaded).toMatchObject({ warnings, values: { api: "chat" } });
});

test("an invalid value next to an unknown key is rejected, and so is a server of two kinds", async () => {
  await expect(loadFrom({ colour: "red", model: 7 })).rejects.toThrow("config.json: model: expected string. Fix");
  await expect(loadFrom({ mcp_servers: { a: { command: "a", url: "https://a.example" } } })).rejects.toThrow(
    "mcp_servers.a",
  );
});

async function loadFrom(config: object) {
  return loadConfig({ home: await homeWith(config), env: {}, flags: {} });
}

test.each([
  ["expected a file, but it is a folder", (path: string) => mkdir(path)],
  ["it is not a regular file", async (path: string) => void (await promisify(execFile)("mkfifo", [path]))],
  [
    "the file is too large for a configuration",
    async (path: string) => {
      await writeFile(path, "");
      await truncate(path, 40_000_000);
    },
  ],
])("an unusable configuration file is rejected without reading it: %s", async (reason, make) => {
  const home = await temporaryFolder();
  const path = join(home, "config.json");
  await make(path);
  await expect(loadConfig({ home, env: {}, flags: {} })).rejects.toMatchObject({
    name: "InvalidInputError",
    message: `config.json: ${reason}: ${path}`,
  });
});

test.each(["", " \n", "\uFEFF"])("an empty file, %j, has no settings", async (text) => {
  const home = await homeWith(text);
  expect((await loadConfig({ home, env: {}, flags: {} })).sources).toEqual(allDefault);
});

test("a byte order mark is accepted", async () => {
  const home = await homeWith('\uFEFF{"model":"o3"}');
  expect((await loadConfig({ home, env: {}, flags: {} })).values.model).toBe("o3");
});

test("the schema library is not loaded without a file", async () => {
  await using bundle = await bundleModule("src/config/load-config.ts");
  const script = `
    const { loadConfig } = await import(process.argv[1]);
    await loadConfig({ home: process.argv[2], env: {}, flags: {} });
    process.stdout.write(String("__zod_globalConfig" in globalThis));
  `;
  const run = async (home: string) => {
    const args = ["--input-type=module", "-e", script, bundle.file, home];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };
  expect(await run(await homeWith({ model: "o3" }))).toBe("true");
  expect(await run(await temporaryFolder())).toBe("false");
});

test("the YAML and JSONC parsers are loaded only for such a file", async () => {
  await using bundle = await bundleModule("src/config/load-config.ts");
  const script = `
    import { createRequire } from "node:module";
    const { loadConfig } = await import(process.argv[1]);
    await loadConfig({ home: process.argv[2], env: {}, flags: {} });
    const loaded = Object.keys(createRequire(process.argv[1]).cache).join();
    process.stdout.write(["yaml", "jsonc-parser"].filter((name) => loaded.includes("/" + name + "/")).join());
  `;
  const run = async (name: string, text: string) => {
    const home = await temporaryFolder();
    await writeFile(join(home, name), text);
    const args = ["--input-type=module", "-e", script, bundle.file, home];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };
  expect(await run("notes.txt", "")).toBe("");
  expect(await run("config.json", "{}")).toBe("");
  expect(await run("config.jsonc", "{}")).toBe("jsonc-parser");
  expect(await run("config.yml", "{}")).toBe("yaml");
});

test("history sets how many turns the model sees, and as an alias whether conversations are saved", async () => {
  const home = await homeWith({ history: { maxSize: 3, saveHistory: false } });
  const loaded = await loadConfig({ home, env: {}, flags: {} });
  expect(loaded.values).toMatchObject({ history: { maxSize: 3 }, persistence: { enabled: false } });
  expect(loaded.sources).toEqual({
    ...allDefault,
    "history.maxSize": "config.json",
    "persistence.enabled": "config.json",
  });
});

test("history.sensitivePatterns is an alias of redaction.sensitivePatterns", async () => {
  const home = await homeWith({ history: { sensitivePatterns: ["pin"] }, redaction: { shapes: true } });
  const loaded = await loadConfig({ home, env: {}, flags: {} });
  expect(loaded.values.redaction).toEqual({ sensitivePatterns: ["pin"], shapes: true });
  expect(loaded.values.history).toBeUndefined();
  expect(loaded.sources).toEqual({
    ...allDefault,
    "redaction.sensitivePatterns": "config.json",
    "redaction.shapes": "config.json",
  });
});

test("persistence.enabled overrides history.saveHistory", async () => {
  const home = await homeWith({ history: { saveHistory: false }, persistence: { enabled: true } });
  expect((await loadConfig({ home, env: {}, flags: {} })).values).toEqual({
    persistence: { enabled: true, layout: "cody", directory: join(home, "conversations") },
  });
});

test.each([
  [{ maxSize: 0 }, "config.json: history.maxSize: must be more than 0"],
  [{ maxSize: 1.5 }, "config.json: history.maxSize: expected int"],
  [{ saveHistory: "no" }, "config.json: persistence.enabled: expected boolean"],
  [{ sensitivePatterns: ["password", "(a+)+$"] }, "config.json: redaction.sensitivePatterns.1: expected a name"],
])("history cannot be %j", async (history, message) => {
  const home = await homeWith({ history });
  await expect(loadConfig({ home, env: {}, flags: {} })).rejects.toThrow(message);
});

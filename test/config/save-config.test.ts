import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { saveConfig } from "../../src/config/files/save-config.js";
import { bundleModule } from "../support/bundle.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function readJson(home: string): Promise<unknown> {
  return JSON.parse(await readFile(join(home, "config.json"), "utf8"));
}

test("the first setting creates the home and the file, accessible to the owner only", async () => {
  const home = join(await temporaryFolder(), "deep/.cody");
  expect(await saveConfig(home, { provider: "openai", model: "gpt-4o" })).toEqual({
    config: { provider: "openai", model: "gpt-4o" },
  });
  expect(await readJson(home)).toEqual({ provider: "openai", model: "gpt-4o" });
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  expect((await stat(join(home, "config.json"))).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(["config.json"]);
});

test("other settings stay, and one set to undefined is removed", async () => {
  const home = await temporaryFolder();
  await saveConfig(home, {
    provider: "openai",
    api: "chat",
    sandbox: { mode: "read-only" },
    persistence: { directory: "d" },
  });
  await saveConfig(home, { provider: "offline", api: undefined, persistence: { enabled: false } });
  await saveConfig(home, { turnLimits: { steps: 5, tokens: 9 } });
  await saveConfig(home, { turnLimits: { steps: 7, tokens: undefined, seconds: 60 } });
  expect(await readJson(home)).toEqual({
    provider: "offline",
    sandbox: { mode: "read-only" },
    persistence: { directory: "d", enabled: false },
    turnLimits: { steps: 7, seconds: 60 },
  });
});

test("provider entries are changed one by one, and an empty entry is removed", async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, "config.json"), JSON.stringify({ provider: { openai: { apiKey: "k1" } } }));
  await saveConfig(home, { provider: "openai", providers: { openai: { baseUrl: "http://lab/v1" } } });
  await saveConfig(home, { providers: { anthropic: { apiKey: "k2" } } });
  const openai = { apiKey: "k1", baseUrl: "http://lab/v1" };
  expect(await readJson(home)).toEqual({ provider: "openai", providers: { openai, anthropic: { apiKey: "k2" } } });
  await saveConfig(home, { providers: { anthropic: { apiKey: undefined } } });
  expect(await readJson(home)).toEqual({ provider: "openai", providers: { openai } });
  await saveConfig(home, { providers: { openai: { apiKey: undefined, baseUrl: undefined } } });
  expect(await readJson(home)).toEqual({ provider: "openai" });
});

test("an invalid setting changes nothing", async () => {
  const home = await temporaryFolder();
  await saveConfig(home, { model: "o3" });
  await expect(saveConfig(home, { provider: "Open AI" })).rejects.toMatchObject({
    name: "InvalidInputError",
    message: "settings: provider: a provider's name must be a lower-case word",
  });
  expect(await readJson(home)).toEqual({ model: "o3" });
  expect(await readdir(home)).toEqual(["config.json"]);
});

test.each([
  ["{ not json", { provider: "offline" }],
  ['{"model":"o3","colour":"red","api":7}', { provider: "offline", model: "o3" }],
  ['{"provider":{"openai":{"apiKey":"k"}},"api":7}', { provider: "offline", providers: { openai: { apiKey: "k" } } }],
  ["[1,2]", { provider: "offline" }],
])("saving over the damaged file %j keeps valid settings and sets the old file aside", async (text, config) => {
  const home = await temporaryFolder();
  await writeFile(join(home, "config.json"), text, { mode: 0o644 });
  const setAside = join(home, "config.json.invalid");
  expect(await saveConfig(home, { provider: "offline" })).toEqual({ config, setAside });
  expect(await readJson(home)).toEqual(config);
  expect(await readFile(setAside, "utf8")).toBe(text);
  expect((await stat(setAside)).mode & 0o777).toBe(0o600);
});

test("an unreadable file is not replaced", async () => {
  const home = await temporaryFolder();
  await mkdir(join(home, "config.json"));
  await expect(saveConfig(home, { model: "o3" })).rejects.toThrow("it is a folder");
  expect(await readdir(home)).toEqual(["config.json"]);
});

const settings = {
  provider: "openai",
  api: "chat",
  model: "o3",
  approvalPolicy: "never",
  sandbox: { mode: "read-only" },
  persistence: { enabled: false, directory: "/elsewhere" },
};

test("twenty processes that save at once lose no update", async () => {
  await using bundle = await bundleModule("src/config/files/save-config.ts");
  const home = await temporaryFolder();
  const script = `
    const { saveConfig } = await import(process.argv[1]);
    await saveConfig(process.argv[2], JSON.parse(process.argv[3]));
  `;
  const save = (change: object) =>
    promisify(execFile)(process.execPath, [
      "--input-type=module",
      "-e",
      script,
      bundle.file,
      home,
      JSON.stringify(change),
    ]);
  const { model, persistence, ...others } = settings;
  // Each setting except the model is set by one process only, so that no other process can restore a lost update.
  const once = Object.entries(others).map((entry) => Object.fromEntries([entry]));
  const parts = Object.entries(persistence).map((entry) => ({ persistence: Object.fromEntries([entry]) }));
  const rest = Array.from({ length: 20 - once.length - parts.length }, () => ({ model }));
  await Promise.all([...once, ...rest, ...parts].map(save));
  expect(await readJson(home)).toEqual(settings);
  expect(await readdir(home)).toEqual(["config.json"]);
});

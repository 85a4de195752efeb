import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.js";
import { saveConfig } from "../../src/config/files/save-config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function homeWith(name: string, text: string): Promise<string> {
  const home = await temporaryFolder();
  await writeFile(join(home, name), text, { mode: 0o600 });
  return home;
}

const yaml = `# who answers
provider: openai # the usual one
history:
  maxSize: 3 # turns
  # nothing on disk
  saveHistory: false

toolEnv:
  - GOPATH # for go
`;

const jsonc = `{
  // who answers
  "provider": "openai", // the usual one
  "history": {
    "maxSize": 3, /* turns */
    "saveHistory": false,
  },
  "toolEnv": ["GOPATH"],
}
`;

const files = [
  ["config.yaml", yaml],
  ["config.yml", yaml],
  ["config.jsonc", jsonc],
] as const;

test.each(files)("%s is read and reported as the source", async (name, text) => {
  const home = await homeWith(name, text);
  const { values, sources, file } = await loadConfig({ home, env: {}, flags: {} });
  expect(values).toEqual({
    provider: "openai",
    history: { maxSize: 3 },
    toolEnv: ["GOPATH"],
    persistence: { enabled: false, layout: "cody", directory: join(home, "conversations") },
  });
  expect([file, sources.provider, sources["history.maxSize"]]).toEqual([name, name, name]);
});

test.each(files)("settings are changed in %s, and its comments stay", async (name, text) => {
  const home = await homeWith(name, text);
  await saveConfig(home, { provider: "anthropic", model: "m", history: { maxSize: 5 }, turnLimits: { steps: 9 } });
  const saved = await readFile(join(home, name), "utf8");
  for (const comment of ["who answers", "the usual one", "turns"]) expect(saved).toContain(comment);
  expect((await loadConfig({ home, env: {}, flags: {} })).values).toMatchObject({
    provider: "anthropic",
    model: "m",
    history: { maxSize: 5 },
    toolEnv: ["GOPATH"],
    turnLimits: { steps: 9 },
    persistence: { enabled: false },
  });
  expect(await readdir(home)).toEqual([name]);
  expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
});

test.each(files)("unchanged settings in %s keep their formatting", async (name, text) => {
  const home = await homeWith(name, text);
  await saveConfig(home, { history: { maxSize: 4 } });
  const saved = await readFile(join(home, name), "utf8");
  expect(withoutCommas(saved)).toBe(withoutCommas(text.replace("3", "4")));
});

test.each(files)("a setting is removed from %s under any of its names", async (name, text) => {
  const home = await homeWith(name, text);
  const history = { maxSize: undefined };
  await saveConfig(home, { provider: undefined, history, persistence: { enabled: undefined } });
  const { values, sources } = await loadConfig({ home, env: {}, flags: {} });
  expect([values.provider, values.history, values.persistence.enabled]).toEqual([undefined, undefined, true]);
  expect(sources["persistence.enabled"]).toBe("default");
  expect(await readFile(join(home, name), "utf8")).toMatch(/GOPATH/);
});

function withoutCommas(text: string): string {
  return text.replaceAll(",", "");
}

test("keys under provider move to providers when another provider is selected", async () => {
  const home = await homeWith("config.yaml", "# mine\nprovider:\n  openai:\n    apiKey: k1\n");
  await saveConfig(home, { provider: "openai" });
  const text = await readFile(join(home, "config.yaml"), "utf8");
  expect(text).toBe("# mine\nprovider: openai\nproviders:\n  openai:\n    apiKey: k1\n");
});

test.each([
  ["config.yaml", ""],
  ["config.yaml", "# nothing yet\n"],
  ["config.jsonc", "// nothing yet\n"],
  ["config.jsonc", "{\n  // nothing yet\n}\n"],
])("%s with %j has no settings and can be written", async (name, text) => {
  const home = await homeWith(name, text);
  expect((await loadConfig({ home, env: {}, flags: {} })).values.provider).toBeUndefined();
  expect(await saveConfig(home, { provider: "openai" })).toEqual({ config: { provider: "openai" } });
  expect(await readFile(join(home, name), "utf8")).toContain(text === "" ? "openai" : "nothing yet");
  expect((await loadConfig({ home, env: {}, flags: {} })).values.provider).toBe("openai");
});

test("two configuration files are an error that names both", async () => {
  const home = await homeWith("config.yaml", yaml);
  await writeFile(join(home, "config.json"), "{}");
  const message = `config.json and config.yaml are both in ${home}. Keep only one of them`;
  await expect(loadConfig({ home, env: {}, flags: {} })).rejects.toThrow(message);
  await expect(saveConfig(home, { model: "m" })).rejects.toThrow(message);
  expect((await readdir(home)).toSorted()).toEqual(["config.json", "config.yaml"]);
});

const aliasBomb = ["a: &a [x, x, x, x, x, x, x, x, x]", ..."bcdef".split("").map(repeatedAlias)].join("\n");

function repeatedAlias(letter: string, index: number): string {
  const before = String.fromCharCode("a".charCodeAt(0) + index);
  return `${letter}: &${letter} [${Array.from({ length: 9 }, () => `*${before}`).join(", ")}]`;
}

test.each([
  ["config.yaml", "model: [secret", "config.yaml: invalid YAML in line 1, column "],
  ["config.yaml", "a: 1\na: 2\n", "config.yaml: invalid YAML in line 2, column 1: duplicate key"],
  ["config.yaml", "model: *secret\n", "config.yaml: invalid YAML: an alias (*…) refers to an unknown anchor"],
  ["config.yaml", aliasBomb, "config.yaml: invalid YAML: an alias (*…) refers to an unknown anchor"],
  ["config.yaml", "a:\n    b: 1\n  c: 2\n", "line 3, column 1: the indentation does not match the lines above"],
  ["config.yaml", "- model\n", "config.yaml: expected object"],
  ["config.yml", "model: 7\n", "config.yml: model: expected string"],
  [
    "config.jsonc",
    '{\n  "model": secret\n}\n',
    "config.jsonc: invalid JSON in line 2, column 12: text must be in double quotes",
  ],
  ["config.jsonc", '{ "model": 7 }', "config.jsonc: model: expected string"],
  [
    "config.jsonc",
    '{\n  "model": "secret",\n  // again\n  "model": "other",\n}\n',
    "config.jsonc: invalid JSON in line 4, column 3: duplicate key",
  ],
  [
    "config.json",
    '{"providers": {"a": {"apiKey": "secret"}, "b": {"apiKey": "k"}, "\\u0061": {}}}',
    "config.json: invalid JSON in line 1, column 65: duplicate key",
  ],
  ["config.json", '{"model": "secret", "model": 7', "config.json: invalid JSON in line 1, column 31: a } is missing"],
])("%s with %j is rejected with the reason and without quoting it", async (name, text, message) => {
  const home = await homeWith(name, text);
  const error: unknown = await loadConfig({ home, env: {}, flags: {} }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "InvalidInputError", message: expect.stringContaining(message) });
  expect(String(error)).not.toContain("secret");
});

test.each([
  ["config.yaml", "model: [broken", "provider: offline\n"],
  ["config.yaml", "# mine\nmodel: o3 # good\nturnLimits: 3\n", "# mine\nmodel: o3 # good\nprovider: offline\n"],
  ["config.jsonc", "{ broken", '{\n  "provider": "offline"\n}\n'],
])("saving over the damaged %s keeps valid settings and sets the old file aside", async (name, text, saved) => {
  const home = await homeWith(name, text);
  const setAside = join(home, `${name}.invalid`);
  expect(await saveConfig(home, { provider: "offline" })).toMatchObject({ setAside });
  expect(await readFile(join(home, name), "utf8")).toBe(saved);
  expect(await readFile(setAside, "utf8")).toBe(text);
});

test("saving keeps an unknown key as written", async () => {
  const home = await homeWith("config.yaml", "# mine\ncolour: red # later\n");
  expect(await saveConfig(home, { provider: "offline" })).toEqual({ config: { provider: "offline" } });
  expect(await readFile(join(home, "config.yaml"), "utf8")).toBe("# mine\ncolour: red # later\nprovider: offline\n");
});

test("a setting written as a YAML alias is not edited", async () => {
  const referring = "providers:\n  openai: &key\n    apiKey: k\n  my-lab: *key\n";
  const other = await homeWith("config.yaml", referring);
  await expect(saveConfig(other, { providers: { "my-lab": { baseUrl: "http://lab/v1" } } })).rejects.toThrow(
    "cody cannot edit config.yaml without losing its formatting. Edit it by hand",
  );
  expect(await readFile(join(other, "config.yaml"), "utf8")).toBe(referring);
});

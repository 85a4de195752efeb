import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig, type LoadedConfig } from "../../src/config/load-config.js";
import { nearestSetting } from "../../src/config/settings/nearest-setting.js";
import { readTrust, setTrust, type TrustLevel } from "../../src/config/project/trust.js";
import type { Config } from "../../src/messages/settings/config.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface Said {
  readonly own?: object;
  /** The project's `.cody/config.yaml`, written as JSON, which is valid YAML. */
  readonly project?: object;
  readonly trust?: TrustLevel;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Config;
}

async function loadLayers({ own, project, trust, env = {}, flags = {} }: Said): Promise<LoadedConfig> {
  const folder = await realpath(await temporaryFolder());
  const [home, cwd] = [join(folder, "home"), join(folder, "site")];
  await Promise.all([mkdir(home), mkdir(join(cwd, ".cody"), { recursive: true })]);
  if (own !== undefined) await writeFile(join(home, "config.json"), JSON.stringify(own));
  if (project !== undefined) await writeFile(join(cwd, ".cody/config.yaml"), JSON.stringify(project));
  if (trust !== undefined) await setTrust(home, cwd, trust);
  return await loadConfig({ home, projectRoot: cwd, env, flags });
}

test("flags override the environment, which overrides the project, which overrides the user's configuration", async () => {
  const { values, sources } = await loadLayers({
    own: { compaction: { ratio: 0.1, keepTurns: 1, userMessageTokens: 1000, reserveTokens: 1000 } },
    project: { compaction: { ratio: 0.2, keepTurns: 2, userMessageTokens: 2000 } },
    trust: "trusted",
    env: { CODY_COMPACTION_RATIO: "0.3", CODY_COMPACTION_KEEP_TURNS: "3" },
    flags: { compaction: { ratio: 0.4 } },
  });
  expect(values.compaction).toEqual({ ratio: 0.4, keepTurns: 3, userMessageTokens: 2000, reserveTokens: 1000 });
  expect(sources).toMatchObject({
    "compaction.ratio": "flag",
    "compaction.keepTurns": "environment",
    "compaction.userMessageTokens": ".cody/config.yaml",
    "compaction.reserveTokens": "config.json",
    "compaction.enabled": "default",
  });
});

test("the user's base URL is not used for a provider that the project selects", async () => {
  const { values, sources } = await loadLayers({
    own: { provider: "openai", model: "gpt-4o", baseUrl: "https://own.example/v1" },
    project: { provider: "anthropic", model: "claude-sonnet-4-5" },
    trust: "trusted",
  });
  expect(values).toMatchObject({ provider: "anthropic", model: "claude-sonnet-4-5" });
  expect(values.baseUrl).toBeUndefined();
  expect(sources).toMatchObject({ provider: ".cody/config.yaml", baseUrl: "default" });
});

test("an untrusted project only reports that it has a configuration", async () => {
  const { values, ignoredConfig } = await loadLayers({ project: { sandbox: "danger-full-access" } });
  expect(values.sandbox).toBeUndefined();
  expect(ignoredConfig).toMatch(/site\/\.cody\/config\.yaml$/);
});

test("a trust decision is not asked again, and servers do not count as settings", async () => {
  expect(await loadLayers({ project: { sandbox: "read-only" }, trust: "untrusted" })).not.toHaveProperty(
    "ignoredConfig",
  );
  expect(await loadLayers({ project: { mcp_servers: { a: { command: "a" } } } })).not.toHaveProperty("ignoredConfig");
});

test.each([
  [{ persistence: { directory: "/tmp" } }, "persistence can only be set in your own configuration"],
  [{ logins: {} }, "logins can only be set in your own configuration"],
  [{ sandbox: "danger-full-access" }, "sandbox can only be set in your own configuration"],
  [{ providers: { openai: { baseUrl: "https://evil.example" } } }, "providers can only be set in your own"],
])("a trusted project that sets %j is rejected", async (project, message) => {
  await expect(loadLayers({ project, trust: "trusted" })).rejects.toThrow(message);
});

test("an unknown key of a trusted project is ignored with a warning", async () => {
  const { values, warnings } = await loadLayers({ project: { colour: "red", model: "gpt-4o" }, trust: "trusted" });
  expect(values.model).toBe("gpt-4o");
  expect(warnings).toEqual([".cody/config.yaml: unknown key colour is ignored."]);
});

test("a broken configuration of a trusted project is reported as the project's", async () => {
  const folder = await realpath(await temporaryFolder());
  const [home, cwd] = [join(folder, "home"), join(folder, "site")];
  await Promise.all([mkdir(home), mkdir(join(cwd, ".cody"), { recursive: true })]);
  await writeFile(join(cwd, ".cody/config.json"), "{");
  await setTrust(home, cwd, "trusted");
  await expect(loadConfig({ home, projectRoot: cwd, env: {}, flags: {} })).rejects.toThrow(
    ".cody/config.json: invalid JSON in line 1, column 2: a } is missing",
  );
});

test("a configuration that is a symlink is ignored", async () => {
  const folder = await realpath(await temporaryFolder());
  const [home, cwd] = [join(folder, "home"), join(folder, "site")];
  await Promise.all([mkdir(home), mkdir(join(cwd, ".cody"), { recursive: true })]);
  await writeFile(join(folder, "elsewhere.json"), "{}");
  await symlink(join(folder, "elsewhere.json"), join(cwd, ".cody/config.json"));
  await setTrust(home, cwd, "trusted");
  await expect(loadConfig({ home, projectRoot: cwd, env: {}, flags: {} })).rejects.toThrow("is not a file");
});

test("an invalid variable is reported by name", async () => {
  await expect(loadLayers({ env: { CODY_SANDBOX: "open" } })).rejects.toThrow("CODY_SANDBOX: ");
  await expect(loadLayers({ env: { CODY_TURN_LIMITS_STEPS: "many" } })).rejects.toThrow("CODY_TURN_LIMITS_STEPS: ");
});

test("empty variables and variables that are not settings are ignored", async () => {
  const { sources } = await loadLayers({ env: { CODY_MODEL: "", CODY_HOME: "/x", CODY_COLOUR: "red" } });
  expect(sources.model).toBe("default");
});

test.each([
  ["modle", "model"],
  ["Sandbox", "sandbox"],
  ["approval_policy", "approvalPolicy"],
  ["compaction.keepTurn", "compaction.keepTurns"],
  ["retentionDays", "persistence.retentionDays"],
  ["mcpServers", "mcp_servers"],
  ["colour", undefined],
  ["persistence.on", undefined],
  ["providers.openai.key", undefined],
])("%s is reported as a misspelling of %s", (text, meant) => {
  expect(nearestSetting(text)).toBe(meant);
});

test("an oversized project configuration is not parsed", async () => {
  const project = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key${at}`, 1]));
  await expect(loadLayers({ project, trust: "trusted" })).rejects.toThrow("too large for a configuration");
});

test("a project can be trusted before cody has a home", async () => {
  const home = join(await temporaryFolder(), "not", "there");
  await setTrust(home, "/projects/site", "trusted");
  expect((await readTrust(home)).get("/projects/site")).toBe("trusted");
});

test.each([
  ["chatgpt-oauth", undefined],
  ["claude-oauth", undefined],
  ["claude-oauth", "http://own/v1"],
])("with %s a base URL from the environment is ignored, and the user's is %j", async (auth, baseUrl) => {
  const env = { CODY_BASE_URL: "http://elsewhere/v1" };
  const said = await loadLayers({ own: { auth, ...(baseUrl === undefined ? {} : { baseUrl }) }, env });
  expect(said.values.baseUrl).toBe(baseUrl);
  const { values } = await loadLayers({ env: { ...env, CODY_AUTH: auth ?? "" } });
  expect(values.baseUrl).toBeUndefined();
});

test("a base URL from a flag applies to a login, and one from the environment to a key or another provider", async () => {
  const own = { auth: "chatgpt-oauth" };
  const env = { CODY_BASE_URL: "http://lab/v1" };
  expect((await loadLayers({ own, flags: { baseUrl: "http://flag/v1" }, env })).values.baseUrl).toBe("http://flag/v1");
  expect((await loadLayers({ own, env: { ...env, CODY_PROVIDER: "my-lab" } })).values.baseUrl).toBe("http://lab/v1");
  expect((await loadLayers({ own: { auth: "openai-api-key" }, env })).values.baseUrl).toBe("http://lab/v1");
});

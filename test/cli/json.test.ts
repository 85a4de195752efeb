import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, type CliResult } from "../support/cli.js";

test("new --json prints the id and whether it is saved", async () => {
  const cli = await Cli.open();
  const created = valueOf(await cli.run(["new", "--json"]));
  const [id] = await cli.ids();
  expect(created).toEqual({ id, saved: true });
  const unsaved = await cli.run(["new", "--json", "--no-persistence"]);
  expect(valueOf(unsaved)).toEqual({ id: expect.stringMatching(/^conv_/), saved: false });
  expect(unsaved.stderr).toContain("Not saved: persistence is off");
});

test("new --json on a full disk reports that it is not saved", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(cli.conversations, "not a directory");
  expect(valueOf(await cli.run(["new", "--json"]))).toMatchObject({ saved: false });
});

test("resume --json prints the conversation, its provider and its model", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  const [id = ""] = await cli.ids();
  expect(valueOf(await cli.run(["resume", id, "--json"]))).toEqual({ id, provider: "offline", model: "offline" });
});

test("config --json prints every setting and its source", async () => {
  const cli = await Cli.open();
  await cli.run(["config", "set", "sandbox", "read-only"]);
  expect(valueOf(await cli.run(["config", "--json", "--model", "offline"]))).toEqual({
    values: {
      provider: "offline",
      api: null,
      model: "offline",
      baseUrl: null,
      auth: null,
      approvalPolicy: "on-request",
      "sandbox.mode": "read-only",
      "sandbox.writableRoots": null,
      "sandbox.network": "off",
      "sandbox.unixSockets": "off",
      "turnLimits.steps": 200,
      "turnLimits.seconds": 3_600,
      "turnLimits.tokens": 10_000_000,
      "turnLimits.cost": null,
      "turnLimits.answerBytes": 8_388_608,
      "turnLimits.turnBytes": 67_108_864,
      "turnLimits.approvalSeconds": 86_400,
      "turnLimits.identicalFailures": 3,
      "compaction.enabled": true,
      "compaction.strategy": null,
      "compaction.mode": "blocking",
      "compaction.ratio": 0.8,
      "compaction.tokenLimit": null,
      "compaction.reserveTokens": null,
      "compaction.keepRecentTokens": 20_000,
      "compaction.keepTurns": 5,
      "compaction.userMessageTokens": 20_000,
      "compaction.preserveToolResults": "recent",
      "compaction.onFailure": "keep",
      "compaction.prompt": null,
      contextWindow: null,
      systemPrompt: null,
      instructions: null,
      "knowledge.enabled": true,
      "knowledge.injectionBudget": 8192,
      toolEnv: null,
      "redaction.sensitivePatterns": [
        "password",
        "passwd",
        "passphrase",
        "api_key",
        "secret",
        "secret_key",
        "access_key",
        "private_key",
        "client_secret",
        "token",
        "authorization",
      ],
      "redaction.shapes": false,
      "history.maxSize": 1_000,
      "export.directory": join(cli.project, "Downloads"),
      "terminal.screen": true,
      "terminal.theme": "auto",
      "terminal.keys": "emacs",
      "terminal.notifications": "auto",
      "persistence.enabled": true,
      "persistence.layout": "cody",
      "persistence.directory": cli.conversations,
      "persistence.retentionDays": 30,
      "persistence.maxConversationsPerProject": 100,
      "persistence.maxFileMegabytes": null,
      "persistence.maxBlobMegabytes": 100,
    },
    sources: {
      provider: "default",
      api: "default",
      model: "flag",
      baseUrl: "default",
      auth: "default",
      approvalPolicy: "default",
      "sandbox.mode": "config.json",
      "sandbox.writableRoots": "default",
      "sandbox.network": "default",
      "sandbox.unixSockets": "default",
      "turnLimits.steps": "default",
      "turnLimits.seconds": "default",
      "turnLimits.tokens": "default",
      "turnLimits.cost": "default",
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
    },
  });
});

test("config get, set and path --json print the value, what was set, and the path", async () => {
  const cli = await Cli.open();
  expect(valueOf(await cli.run(["config", "set", "model", "42", "--json"]))).toEqual({ model: "42" });
  expect(valueOf(await cli.run(["config", "get", "model", "--json"]))).toBe("42");
  expect(valueOf(await cli.run(["config", "set", "persistence.enabled", "false", "--json"]))).toEqual({
    "persistence.enabled": false,
  });
  expect(valueOf(await cli.run(["config", "get", "persistence.enabled", "--json"]))).toBe(false);
  expect(valueOf(await cli.run(["config", "path", "--json"]))).toBe(join(cli.home, "config.json"));
});

test("config get --json of an unset setting prints null and fails as without --json", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["config", "get", "api", "--json"])).toMatchObject({
    code: 1,
    stdout: "null\n",
    stderr: "api is not set\n",
  });
});

test("set-provider --json prints what was set", async () => {
  const cli = await Cli.open();
  const set = await cli.run(["set-provider", "openai", "--api", "chat", "--model", "4", "--json"]);
  expect(valueOf(set)).toEqual({ provider: "openai", api: "chat", model: "4" });
  expect(set.stderr).toContain("OPENAI_API_KEY");
  expect(valueOf(await cli.run(["set-provider", "offline", "--json"]))).toEqual({ provider: "offline" });
});

/** The single line of stdout, parsed. */
function valueOf({ code, stdout }: CliResult): unknown {
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[^\n]+\n$/) });
  return JSON.parse(stdout);
}

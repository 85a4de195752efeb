import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/version.js";
import { Cli } from "../support/cli.js";

test.each([["--version"], ["-v"], ["--json", "--version"]])("%s prints the version", async (...args) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: "" });
});

test("--help names every command and every flag, and a command has its own", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const name of [
    "new",
    "chat",
    "list",
    "resume",
    "compact",
    "context",
    "set-provider",
    "set-auth",
    "config",
    "mock-llm",
  ])
    expect(stdout).toContain(`  ${name} `);
  const flags =
    "model provider api resume continue no-persistence conversation-dir approval-policy sandbox json home list";
  for (const flag of flags.split(" ")) expect(stdout).toContain(`--${flag}`);
  for (const policy of ["on-request", "untrusted", "never"]) expect(stdout).toContain(`--approval-policy ${policy} `);
  expect((await cli.run(["list", "--help"])).stdout).toContain("cody list [options]");
});

test("an unknown command names the known ones", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["frobnicate"])).toEqual({
    code: 2,
    signal: null,
    stdout: "",
    stderr:
      "✗ Unknown command 'frobnicate'\n  Commands: new, chat, list, resume, rename, compact, context, set-provider, set-auth, config, export, repair, doctor, mock-llm\n  See: cody --help\n",
  });
});

test.each([
  [["--frob"], "Unknown option --frob"],
  [["chat", "--frob", "hello"], "Unknown option --frob"],
  [["--frob=1", "chat", "hello"], "Unknown option --frob"],
  [["chat", "-x", "hello"], "Unknown option -x"],
  [["chat", "-json", "hello"], "Did you mean --json?"],
  [["chat", "--limit", "3"], "Unknown option --limit"],
  [["chat", "--constructor", "hello"], "Unknown option --constructor"],
  [["chat", "--__proto__", "hello"], "Unknown option --__proto__"],
  [["chat", "-5 degrees"], "Unknown option -5 degrees"],
  [["chat", "hello", "--model"], "--model needs a value"],
  [["chat", "hello", "--model="], "--model needs a value"],
  [["chat", "--no-model", "hello"], "Unknown option --no-model"],
  [["chat", "--json=no", "hello"], "--json takes no value"],
  [["chat", "--api", "soap", "hello"], "--api: "],
  [["chat", "--sandbox", "none", "hello"], "--sandbox: "],
  [["chat", "--approval-policy", "always", "hello"], "--approval-policy: "],
  [["chat", "--provider", "Open AI", "hello"], "--provider: "],
  [["list", "everything"], "'everything' is one argument too many"],
  [["resume", "a", "b"], "'b' is one argument too many"],
  [["set-provider"], "provider is missing"],
  [["set-auth"], "method is missing"],
])("%j is a mistake: exit 2 and a hint", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
  expect(await cli.ids()).toEqual([]);
});

test("a configuration that does not parse is named, and shows nothing of what is in it", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(join(cli.home, "config.json"), '{"provider": "sk-secretsecretsecret');
  const { code, stderr } = await cli.run(["chat", "hello"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("config.json: invalid JSON") });
  expect(stderr).not.toContain("secret");
});

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CommandFlags, commandNames, commandRow } from "../../src/cli/arguments/command-table.js";
import { flagUsage, globalFlags } from "../../src/cli/arguments/flag-table.js";
import { version } from "../../src/version.js";
import { Cli } from "../support/cli.js";

test.each([["--version"], ["-v"], ["--json", "--version"], ["version"]])("%s prints the version", async (...args) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: "" });
});

test("--help lists every command and flag, and each command has its own help", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const name of [
    "new",
    "chat",
    "list",
    "search",
    "index",
    "stats",
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

test("help is also a command, with an optional command name", async () => {
  const cli = await Cli.open();
  const whole = await cli.run(["--help"]);
  expect(await cli.run(["help"])).toEqual(whole);
  expect(whole.stdout).toMatch(/\n {2}help \[command\] .*\n {2}version /);
  expect(await cli.run(["help", "chat"])).toEqual(await cli.run(["chat", "--help"]));
  expect(await cli.run(["help", "help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("cody help [") });
  expect(await cli.run(["help", "lst"])).toMatchObject({ code: 2, stderr: unknownCommand("lst", "list") });
  expect(await cli.run(["help", "chat", "more"])).toMatchObject({ code: 2, stdout: "" });
});

test.each(commandNames)("the help of '%s' lists exactly its flags and the global ones separately", async (name) => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(name === "" ? ["--help"] : [name, "--help"]);
  const section = (title: string): string[] => {
    const [, rows = ""] = stdout.split(`\n${title}:\n`);
    const [lines = ""] = rows.split("\n\n");
    return lines.split("\n").flatMap((line) => line.match(/^ {2}(-.*?) {2}/)?.[1] ?? []);
  };
  expect(section("Options")).toEqual(commandRow(name).flags.map(flagUsage));
  expect(section("Global options")).toEqual(globalFlags.map(flagUsage));
  expect((await cli.run(name === "" ? ["help"] : ["help", name])).stdout).toBe(stdout);
});

test("list --help shows no conversation flags", async () => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["list", "--help"]);
  for (const flag of ["--limit", "--sort", "--conversation-dir", "--json", "--home"]) expect(stdout).toContain(flag);
  for (const flag of ["--model", "--sandbox", "--resume", "--force"]) expect(stdout).not.toContain(flag);
});

test("a flag of other commands is rejected with the names of those commands", async () => {
  const cli = await Cli.open();
  const refused = { code: 2, signal: null, stdout: "" };
  const dryRun = "compact, clean, knowledge, import, scrub".split(", ");
  expect(await cli.run(["check", "--fork", "id"])).toEqual({
    ...refused,
    stderr: "✗ Unknown option --fork for cody check\n  It is an option of: resume\n  See: cody check --help\n",
  });
  for (const args of [
    ["list", "--model", "x"],
    ["--model", "x", "list"],
    ["list", "--model=x"],
  ]) {
    const stderr = expect.stringMatching(
      /^✗ Unknown option --model for cody list\n {2}It is an option of: new, chat, /,
    );
    expect(await cli.run(args)).toEqual({ ...refused, stderr });
  }
  const bare = await cli.run(["--dry-run"]);
  expect(bare).toEqual({ ...refused, stderr: expect.stringContaining("Unknown option --dry-run without a command\n") });
  for (const name of dryRun) expect(bare.stderr).toContain(name);
});

test.each([
  ["--modle", "--model"],
  ["--MODEL", "--model"],
  ["--baseUrl", "--base-url"],
  ["--approval", "--approval-policy"],
  ["--sandbxo=read-only", "--sandbox"],
  ["--no-stdn", "--no-stdin"],
])("a misspelled flag is rejected with the nearest suggestion: %s", async (typed, meant) => {
  const cli = await Cli.open();
  expect(await cli.run(["chat", typed, "hello"])).toMatchObject({
    code: 2,
    stderr: `✗ Unknown option ${typed.split("=")[0]}\n  Did you mean ${meant}?\n  See: cody chat --help\n`,
  });
});

test("--help works even with an invalid number", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["list", "--limit", "many", "--help"])).toMatchObject({ code: 0, stderr: "" });
  expect(await cli.run(["list", "--limit", "many"])).toMatchObject({
    code: 2,
    stderr: "✗ --limit: expected a whole number from 1 to 999999999, not 'many'\n  See: cody --help\n",
  });
});

test.each([
  ["chta", "chat"],
  ["Chat", "chat"],
  ["resum", "resume"],
  ["set-provder", "set-provider"],
  ["hlep", "help"],
])("a misspelled command is rejected with the nearest suggestion: %s", async (typed, meant) => {
  const cli = await Cli.open();
  expect(await cli.run([typed, "hello"])).toEqual({
    code: 2,
    signal: null,
    stdout: "",
    stderr: unknownCommand(typed, meant),
  });
});

function unknownCommand(typed: string, meant: string): string {
  return `✗ Unknown command '${typed}'. Did you mean ${meant}?\n  See: cody help\n`;
}

test("an unknown command is rejected with the list of commands", async () => {
  const cli = await Cli.open();
  const { code, stdout, stderr } = await cli.run(["frobnicate"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(
    /^✗ Unknown command 'frobnicate'\n {2}Commands: new, chat, list, (?:[a-z-]+, )+mock-llm, help, version\n {2}See: cody help\n$/,
  );
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
  [["list", "everything"], "Unexpected argument 'everything'"],
  [["resume", "a", "b"], "Unexpected argument 'b'"],
  [["set-provider"], "Missing argument: provider"],
  [["set-auth"], "Missing argument: method"],
])("%j is a usage error: exit code 2 and a hint", async (args, text) => {
  const cli = await Cli.open();
  expect(await cli.run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
  expect(await cli.ids()).toEqual([]);
});

test("a configuration that does not parse is reported by path without quoting its content", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(join(cli.home, "config.json"), '{"provider": "sk-secretsecretsecret');
  const { code, stderr } = await cli.run(["chat", "hello"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("config.json: invalid JSON") });
  expect(stderr).not.toContain("secret");
});

test("a command's type has exactly the flags it declares", () => {
  const declared: Pick<CommandFlags<"list">, "limit" | "all"> = { limit: 3, all: false };
  // @ts-expect-error: list does not declare --model, so reading it does not compile
  type Undeclared = Pick<CommandFlags<"list">, "model">;
  const values: readonly (Undeclared | typeof declared)[] = [declared];
  expect(values).toEqual([{ limit: 3, all: false }]);
});

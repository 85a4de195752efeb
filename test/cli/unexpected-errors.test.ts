import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

test("an uncaught error prints one line and the path of the log, which has the stack and no secret", async () => {
  const cli = await Cli.open();
  const env = { TEST_API_KEY: "very-secret-value" };
  const result = await cli.run(["chat", "hello"], { middle: "crash", env });
  expect(result.code).toBe(70);
  expect(result.stderr).toContain(`✗ Unexpected error: boom with [redacted]\n  Details: ${join(cli.home, "logs")}\n`);
  const lines = await cli.log();
  const log = JSON.stringify(lines);
  expect(log).toContain("crash.mjs");
  const [id] = await cli.ids();
  expect(lines.map(({ fields }) => fields["conversationId"])).toEqual([id]);
  expect(result.stdout + result.stderr + log).not.toContain("very-secret-value");
});

test("a command whose event loop runs empty reports it instead of exiting silently", async () => {
  const cli = await Cli.open();
  const result = await cli.run(["chat", "hello"], { middle: "abandon" });
  expect(result).toMatchObject({
    code: 70,
    stderr: expect.stringContaining("✗ Unexpected error: the command ended unexpectedly"),
  });
});

test("a run without errors leaves no log, and the log is not among the conversations", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  expect((await readdir(cli.home)).toSorted()).toEqual(["active", "conversations"]);
});

test("a home below a file is reported with its path and a hint, without the system error code", async () => {
  const cli = await Cli.open();
  const home = join(cli.project, "file", "home");
  await writeFile(join(cli.project, "file"), "");
  expect(await cli.run(["list", "--home", home])).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: [
      `✗ Cannot read ${home}/conversations: a part of the path is not a folder`,
      "  Rename the file that is in the way, or use another path\n",
    ].join("\n"),
  });
});

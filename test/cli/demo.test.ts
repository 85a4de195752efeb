import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("the tour runs real commands in a folder of its own, which is removed", async () => {
  const cli = await Cli.open();
  const temporary = await temporaryFolder();
  const { code, stdout } = await cli.run(["demo"], {
    spawned: true,
    env: { TMPDIR: temporary, OPENAI_API_KEY: "sk-x" },
  });
  expect(code).toBe(0);
  expect(stdout).toContain("$ cody chat 'what is my name?'\nYou told me: your name is Ada.\n");
  expect(stdout).toContain("+made by the tour");
  expect(stdout).toMatch(/\$ cody exec 'what is 6 \* 7\?' --quiet\n6 \* 7 = 42\n/);
  expect(stdout).toContain("That was the tour");
  expect(await readdir(temporary)).toEqual([]);
  expect(await readdir(cli.project)).toEqual([]);
});

test("with --json it prints the commands and their exit codes", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["demo", "--json"]);
  const { steps } = JSON.parse(stdout) as { steps: { command: string; exit_code: number }[] };
  expect({ code, codes: [...new Set(steps.map(({ exit_code }) => exit_code))] }).toEqual({ code: 0, codes: [0] });
  expect(steps[0]).toEqual({ command: "cody chat 'my name is Ada'", exit_code: 0 });
});

test("on a terminal it waits for Enter before each step, and q ends it", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run("demo");
  await terminal.shows("$ cody chat 'my name is Ada'");
  await terminal.shows("Enter runs it");
  terminal.type("\r");
  await terminal.shows("Noted: your name is Ada.");
  await terminal.shows("Enter runs it");
  terminal.type("q\r");
  expect(await running).toBe(0);
  expect(terminal.screen).not.toContain("You told me");
});

test("Ctrl-C ends it with code 130", async () => {
  const terminal = await FakeTerminal.open(scripted([]));
  const running = terminal.run("demo");
  await terminal.shows("Enter runs it");
  terminal.type("\u0003");
  expect(await running).toBe(130);
});

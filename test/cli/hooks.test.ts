import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

function commands(...all: string[]) {
  return [{ matcher: "Bash", hooks: all.map((command) => ({ type: "command", command })) }];
}

async function write(folder: string, config: object): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
}

test("cody hooks lists the hooks with their source and whether they run", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["hooks"])).stdout).toBe("No hooks. They are configured by the setting hooks.\n");
  await write(cli.home, { hooks: { PreToolUse: commands("./mine") } });
  const project = join(cli.project, ".cody");
  await write(project, { hooks: { Stop: [{ hooks: [{ type: "command", command: "./theirs", timeout: 5 }] }] } });
  const file = join(project, "config.json");
  const rows = (status: string): string =>
    `PreToolUse  Bash  ./mine  (on, config.json)\nStop  *  ./theirs  (${status}, ${file})\n`;
  const hint = `To trust this project: cody trust ${cli.project}\n`;
  expect((await cli.run(["hooks", "list"])).stdout).toBe(rows("not trusted") + hint);
  const trusted = await cli.run(["trust"]);
  expect(trusted.stdout).toBe(`✓ Trusted: ${cli.project}\n  the Stop hook: ./theirs\n`);
  expect((await cli.run(["hooks", "list"])).stdout).toBe(rows("on"));
  await write(project, { hooks: { Stop: [{ hooks: [{ type: "command", command: "./theirs", timeout: 6 }] }] } });
  expect((await cli.run(["hooks", "list"])).stdout).toBe(rows("changed") + hint);
  expect(JSON.parse((await cli.run(["hooks", "--json"])).stdout)).toEqual([
    { event: "PreToolUse", matcher: "Bash", command: "./mine", source: "config.json", status: "on" },
    { event: "Stop", command: "./theirs", timeout: 6, source: file, status: "changed" },
  ]);
  expect((await cli.run(["hooks", "run"])).code).toBe(2);
});

function problem(program: string): string {
  return `the program ${program} of a PreToolUse hook cannot be run; change the setting hooks`;
}

test("cody doctor reports hooks whose program cannot be run", async () => {
  const cli = await Cli.open();
  const script = join(cli.project, "check.sh");
  await writeFile(script, "#!/bin/sh\n");
  const all = ["$CODY_PROJECT_DIR/check.sh --fast", "no-such-program x", "sh -c true", "[ -f x ] && y", "A=1 b"];
  await write(cli.home, { hooks: { PreToolUse: commands(...all) } });
  const env = { XDG_RUNTIME_DIR: cli.project, PATH: "/usr/bin:/bin" };
  const before = await cli.run(["doctor"], { env });
  expect(before.stdout).toContain(problem(script));
  expect(before.stdout).toContain(problem("no-such-program"));
  expect(before.stdout.match(/cannot be run/g)).toHaveLength(2);
  await chmod(script, 0o700);
  expect((await cli.run(["doctor"], { env })).stdout).not.toContain(problem(script));
});

function blocking(command: string): object {
  return { hooks: { UserPromptSubmit: commands(command) } };
}

test("the prompt asks again when the commands of a trusted project have changed", async () => {
  const cwd = await temporaryFolder();
  await write(join(cwd, ".cody"), blocking("echo first >&2; exit 2"));
  const terminal = await FakeTerminal.open(scripted([says("Hello.")]), { cwd });
  const asked = terminal.run();
  await terminal.shows("  the UserPromptSubmit hook of Bash: echo first >&2; exit 2\n");
  await terminal.shows("Trust this project and apply these settings? [y/n]");
  terminal.type("y\r");
  await terminal.shows("› ");
  terminal.type("hi\r");
  await terminal.tells("the message was not sent, because a hook blocked it: first");
  terminal.type("/exit\r");
  expect(await asked).toBe(0);

  await write(join(cwd, ".cody"), blocking("echo second >&2; exit 2"));
  const again = await FakeTerminal.open(scripted([says("Hello.")]), { cwd, home: terminal.home });
  const askedAgain = again.run();
  await again.shows(`The commands of the project ${cwd} are not those that you have trusted:\n`);
  await again.shows("Trust these commands and run them? [y/n]");
  again.type("n\r");
  await again.shows("They are not run. To trust them later: cody trust");
  await again.shows("› ");
  again.type("hi\r");
  await again.shows("Hello.");
  again.type("/exit\r");
  expect(await askedAgain).toBe(0);
});

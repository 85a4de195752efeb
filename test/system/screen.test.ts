import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { TmuxScreen } from "../support/cli-tmux.js";
import { openMock } from "../support/open-mock-llm.js";
import type { MockReply } from "../../src/mock-llm/script.js";

const greeting = "/help for commands";
const answer = Array.from({ length: 60 }, (_line, index) => `- point ${index} of a long answer`).join("\n");

/** An interactive bash, because only a shell makes the terminal usable again after a program was killed. */
const bash = ["bash", "--noprofile", "--norc", "-i"];
const main = new URL("../../dist/cli/main.cjs", import.meta.url).pathname;

async function open(replies: readonly MockReply[], program?: readonly string[]) {
  const mock = await openMock({ script: replies });
  const cli = await Cli.open({ spawned: true });
  const env = { OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${mock.url}/v1`, PS1: "ready \\#> ", HISTFILE: "" };
  const screen = await TmuxScreen.open(cli, [], { env, ...(program === undefined ? {} : { program }) });
  return { cli, screen };
}

test("the screen plays turns, follows a resize, asks, and leaves the terminal as it was", async () => {
  const touch = { command: ["touch", "made"], with_escalated_permissions: true, justification: "a file is needed" };
  const { cli, screen } = await open([
    { text: `# Points\n\n${answer}\n\nthe end`, deltas: 200, delayMs: 10 },
    { calls: [{ name: "shell", arguments: touch }] },
    { text: "It is made." },
  ]);
  await screen.shows(greeting);
  await screen.enter("List them");
  await screen.shows("point 10 of");
  await screen.resize(50, 20);
  await screen.shows("the end");
  const widths = (await screen.lines()).map((line) => line.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(50);
  expect((await screen.text()).match(/point 30 of a long answer/g)).toHaveLength(1);
  await screen.enter("Make a file");
  await screen.shows("a file is needed");
  await screen.shows("↑↓ enter");
  await screen.press("y");
  await screen.shows("It is made.");
  expect((await stat(join(cli.project, "made"))).isFile()).toBe(true);
  await screen.enter("/exit");
  expect(await screen.ends()).toBe(0);
  expect(await screen.isCooked()).toBe(true);
  expect(await screen.hasCursor()).toBe(true);
  expect(await screen.isAlternate()).toBe(false);
});

test("after kill -9 in the pager the next cody restores the terminal", async () => {
  const { screen } = await open(
    [{ calls: [{ name: "shell", arguments: { command: ["echo", "seen"] } }] }, { text: "Done." }],
    bash,
  );
  const command = `${process.execPath} ${main}`;
  await screen.shows("ready 1>");
  await screen.enter(command);
  await screen.shows(greeting);
  await screen.enter("Look");
  await screen.shows("Done.");
  await screen.press("C-o");
  await screen.alternates();
  await screen.kill("SIGKILL", 2);
  await screen.shows("Killed");
  await screen.enter(command);
  await screen.shows(greeting);
  expect(await screen.isAlternate()).toBe(false);
  await screen.type("typed text");
  await screen.shows("› typed text");
  await screen.press("C-c", "C-d");
  await screen.shows("ready 3>");
  await screen.enter("exit");
  await screen.ends();
  expect(await screen.isCooked()).toBe(true);
  expect(await screen.hasCursor()).toBe(true);
});

import { expect, test } from "vitest";
import {
  crashedAtQuestion,
  ctrlD,
  Gate,
  leftBehind,
  opened,
  prepared,
  prompt,
  question,
  userTexts,
} from "../support/cli-effects.js";
import { calls, says } from "../support/scripted-provider.js";

test("after a crash the pending approval is asked first, and its turn continues", async () => {
  const crashed = await crashedAtQuestion();
  const { terminal, runs, model } = await prepared([says("Did it."), says("Hello.")], crashed);
  const running = terminal.run("--continue");
  await terminal.shows("Resumed conversation with 1 message\n");
  await terminal.shows("  effect it\n");
  await terminal.shows(question);
  terminal.type("y\r");
  await terminal.shows("Did it.\n");
  await terminal.shows(prompt);
  expect(runs).toEqual(["it"]);
  terminal.type("hello\r");
  await terminal.shows("Hello.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(userTexts(model.requests.at(-1))).toEqual(["go", "hello"]);
});

test("chat after a crash asks the pending approval first, then sends its own message after that turn", async () => {
  const crashed = await crashedAtQuestion();
  const { terminal, runs, model } = await prepared([says("Did it."), says("Hello.")], crashed);
  const running = terminal.run("chat", "--continue", "hello");
  await terminal.tells(question);
  terminal.type("y\r");
  expect(await running).toBe(0);
  expect([runs, terminal.screen]).toEqual([["it"], "Did it.\nHello.\n"]);
  expect(userTexts(model.requests.at(-1))).toEqual(["go", "hello"]);
});

test("chat without a terminal refuses the pending approval after a crash and exits with 1", async () => {
  const crashed = await crashedAtQuestion();
  const { terminal, runs } = await prepared([says("Then not."), says("Hello.")], { ...crashed, notTTY: ["stdin"] });
  expect(await terminal.run("chat", "--continue", "hello")).toBe(1);
  expect([runs, terminal.screen]).toEqual([[], "Then not.\nHello.\n"]);
});

test("resume after a crash asks the pending approval", async () => {
  const crashed = await crashedAtQuestion();
  const { terminal, runs } = await prepared([says("Did it.")], crashed);
  const running = terminal.run("resume");
  await terminal.shows("✓ Resumed conversation: ");
  await terminal.tells(question);
  terminal.type("y\r");
  expect(await running).toBe(0);
  expect(runs).toEqual(["it"]);
});

test("the prompt reports the turn that a crash interrupted", async () => {
  const gate = new Gate({ readOnly: false });
  const options = { tools: [gate.tool], args: ["--sandbox", "danger-full-access"] };
  const { terminal } = await opened([calls("wait", "c1"), says("Done.")], options);
  terminal.type("go\r");
  await gate.reached;
  const crashed = await leftBehind(terminal);
  gate.open();
  const second = await prepared([], crashed);
  const running = second.terminal.run("--continue");
  await second.terminal.tells("A call was interrupted and its result is unknown; it was not run again: wait {}\n");
  await second.terminal.shows(prompt);
  second.terminal.type(ctrlD);
  expect(await running).toBe(0);
});

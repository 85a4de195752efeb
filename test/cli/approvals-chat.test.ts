import { expect, test } from "vitest";
import { choices, ctrlC, prepared, question, userTexts } from "../support/cli-effects.js";
import type { FakeOptions } from "../support/cli-terminal.js";
import { calls, says } from "../support/scripted-provider.js";

test("chat in a terminal asks for approval on stderr", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" }), says("Done.")], {
    notTTY: ["stdout"],
  });
  const running = terminal.run("chat", "go");
  // This input must not be read as an answer: it was typed before the question.
  terminal.type("n\r");
  await terminal.tells(choices);
  await terminal.tells(question);
  terminal.type("y\r");
  expect(await running).toBe(0);
  expect([runs, terminal.screen]).toEqual([["it"], "Done.\n"]);
});

test("chat --json asks for approval on stderr and keeps stdout for events", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" }), says("Done.")]);
  const running = terminal.run("chat", "--json", "go");
  await terminal.tells(question);
  terminal.type("y\r");
  expect(await running).toBe(0);
  expect(runs).toEqual(["it"]);
  const types = terminal.screen
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg.type);
  expect(types).toContain("exec_approval_request");
});

test("Ctrl-C at chat's approval question exits with 130", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" })]);
  const running = terminal.run("chat", "go");
  await terminal.tells(question);
  terminal.type(ctrlC);
  expect(await running).toBe(130);
  expect(runs).toEqual([]);
});

test("twenty approval questions in one chat leak no listeners", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const { terminal, runs } = await prepared([...names.map((what) => calls("effect", what, { what })), says("Done.")]);
  const before = terminal.listeners;
  const running = terminal.run("chat", "go");
  for (const name of names) {
    await terminal.tells(`  effect ${name}\n`);
    await terminal.tells(question);
    terminal.type("y\r");
  }
  expect(await running).toBe(0);
  expect(runs).toEqual(names);
  expect(terminal.listeners).toBeLessThanOrEqual(before + keypressListeners);
});

/** Node leaves one key decoder on a stream permanently. */
const keypressListeners = 2;

test.each<{ args: string[]; notTTY: FakeOptions["notTTY"] }>([
  { args: ["chat", "go"], notTTY: ["stdin"] },
  { args: ["chat", "go"], notTTY: ["stdout", "stderr"] },
  { args: ["chat", "--json", "go"], notTTY: ["stderr"] },
  { args: ["chat", "--json", "go"], notTTY: ["stdin", "stdout", "stderr"] },
])("$args without $notTTY as a terminal refuses immediately and exits with 1", async ({ args, notTTY = [] }) => {
  const replies = [calls("effect", "c1", { what: "it" }), says("Then not.")];
  const { terminal, runs, model } = await prepared(replies, { notTTY });
  expect(await terminal.run(...args)).toBe(1);
  expect(runs).toEqual([]);
  expect(terminal.errors).toContain(
    "Refused: needs approval, but cody cannot ask in this run: effect it\n" +
      "  To be asked, run cody in a terminal. To run everything without approval: --approval-policy never --sandbox danger-full-access\n",
  );
  expect(terminal.errors).not.toContain("failed:");
  expect(JSON.stringify(model.requests[1]?.input)).toContain(
    "effect was refused: it needs approval, and approvals are not available in this run",
  );
});

test("lines of stdin are messages, not answers: calls that need approval are refused and chat exits with 1", async () => {
  const replies = [calls("effect", "c1", { what: "it" }), says("Then not."), says("You said y.")];
  const { terminal, runs, model } = await prepared(replies, { notTTY: ["stdin"] });
  const running = terminal.run();
  terminal.type("go\ny\n");
  terminal.hangUp();
  expect(await running).toBe(1);
  expect(runs).toEqual([]);
  expect(userTexts(model.requests.at(-1))).toEqual(["go", "y"]);
});

test("full access asks for no approval", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" }), says("Done.")], {
    notTTY: ["stdin"],
  });
  expect(await terminal.run("chat", "--sandbox", "danger-full-access", "go")).toBe(0);
  expect(runs).toEqual(["it"]);
});

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { choices, ctrlC, ctrlD, Gate, opened, prepared, prompt, question, userTexts } from "../support/cli-effects.js";
import type { FakeTerminal } from "../support/cli-terminal.js";
import { calls, says } from "../support/scripted-provider.js";

test("the question shows the exact command, and y runs it", async () => {
  const { terminal, runs, running } = await opened([calls("effect", "c1", { what: "a\nb" }), says("Done.")]);
  terminal.type("go\r");
  await terminal.shows(
    `Run this command in ${terminal.cwd}?\n(no sandbox: every command needs approval)\n\n  effect $'a\\nb'\n\n${choices}`,
  );
  await terminal.shows(question);
  expect(runs).toEqual([]);
  terminal.type("y\r");
  await terminal.shows("Done.\n");
  expect(runs).toEqual(["a\nb"]);
  await terminal.shows(prompt);
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("a command wider than the terminal wraps behind a marker", async () => {
  const what = "x".repeat(100);
  const { terminal, runs } = await opened([calls("effect", "c1", { what }), says("Done.")]);
  terminal.type("go\r");
  await terminal.shows(`\n  effect ${"x".repeat(71)}\n  ┆ ${"x".repeat(29)}\n\n${choices}`);
  await terminal.shows(question);
  terminal.type("y\r");
  await terminal.shows("Done.\n");
  expect(runs).toEqual([what]);
});

test("answer a allows the same call from then on, and other calls still ask", async () => {
  const same = calls("effect", "c1", { what: "it" });
  const replies = [same, same, calls("effect", "c2", { what: "that" }), says("Done.")];
  const { terminal, runs } = await opened(replies);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("a\r");
  await terminal.shows("effect that\n");
  await terminal.shows(question);
  expect(runs).toEqual(["it", "it"]);
  terminal.type("YES\r");
  await terminal.shows("Done.\n");
  expect(runs).toEqual(["it", "it", "that"]);
});

test("answer n skips the command and the model continues", async () => {
  const { terminal, runs, model } = await opened([calls("effect", "c1", { what: "it" }), says("Then not.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("n\r");
  await terminal.shows("Then not.\n");
  expect(runs).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.input)).toContain("effect was refused by the user");
  expect(terminal.screen).not.toContain("failed");
});

test("pasted text does not answer a question", async () => {
  const { terminal, runs } = await opened([calls("effect", "c1", { what: "it" }), says("Then not.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("\u001b[200~y\ry\r\u001b[201~\r");
  await terminal.shows("Please answer with y, a, n or s.\n");
  await terminal.shows(question);
  expect(runs).toEqual([]);
  terminal.type("n\r");
  await terminal.shows("Then not.\n");
  expect(runs).toEqual([]);
});

test("a paste that was not sent is restored after the question", async () => {
  const { terminal, model } = await opened([calls("effect", "c1", { what: "it" }), says("Then not."), says("Both.")]);
  terminal.type("go\r\u001b[200~one\rtwo\u001b[201~");
  await terminal.shows(question);
  terminal.type("n\r");
  await terminal.shows("Then not.\n");
  await terminal.shows("› one\n");
  terminal.type("\r");
  await terminal.shows("Both.\n");
  expect(userTexts(model.requests.at(-1)).at(-1)).toBe("one\ntwo");
});

test("answer s stops the turn and returns to the prompt", async () => {
  const { terminal, runs, model } = await opened([calls("effect", "c1", { what: "it" })]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("s\r");
  await terminal.tells("Interrupted.\n");
  await terminal.shows(prompt);
  expect([runs, model.requests.length]).toEqual([[], 1]);
});

test.each([
  ["an empty line", "\r"],
  ["a word", "sure\r"],
  ["Ctrl-D", ctrlD],
])("%s is not a valid answer: the question is repeated, then counts as no", async (_name, keys) => {
  const { terminal, runs, running } = await opened([calls("effect", "c1", { what: "it" }), says("Then not.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type(keys);
  await terminal.shows("Please answer with y, a, n or s.\n");
  await terminal.shows(question);
  terminal.type(keys);
  await terminal.shows(question);
  terminal.type(keys);
  await terminal.shows("Treated as no.\n");
  await terminal.shows("Then not.\n");
  expect(runs).toEqual([]);
  await terminal.shows(prompt);
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("input typed before the question is the next message, not the answer", async () => {
  const gate = new Gate({ readOnly: true });
  const replies = [
    calls("wait", "c0"),
    calls("effect", "c1", { what: "it" }),
    says("One."),
    says("Two."),
    says("Three."),
  ];
  const { terminal, runs, model } = await opened(replies, { tools: [gate.tool] });
  terminal.type("go\r");
  await gate.reached;
  terminal.type("y\ry");
  gate.open();
  await terminal.shows(question);
  terminal.type("n\r");
  await terminal.shows("One.\n");
  await terminal.shows("› y\n");
  await terminal.shows("Two.\n");
  await terminal.shows(prompt);
  // The unfinished line is restored.
  terminal.type("es?\r");
  await terminal.shows("Three.\n");
  expect(runs).toEqual([]);
  expect(userTexts(model.requests.at(-1))).toEqual(["go", "y", "yes?"]);
});

test("input that arrives together with the answer becomes the next message", async () => {
  const { terminal, runs, model } = await opened([calls("effect", "c1", { what: "it" }), says("One."), says("Two.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("y\rnext\r");
  await terminal.shows("One.\n");
  await terminal.shows("› next\n");
  await terminal.shows("Two.\n");
  expect(runs).toEqual(["it"]);
  expect(userTexts(model.requests.at(-1))).toEqual(["go", "next"]);
});

test("Ctrl-C at the question aborts the turn and returns to the prompt", async () => {
  const { terminal, runs, running } = await opened([calls("effect", "c1", { what: "it" }), says("Again.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.\n");
  await terminal.shows(prompt);
  terminal.type("again\r");
  await terminal.shows("Again.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect([runs, terminal.exits]).toEqual([[], []]);
  expect(await rollout(terminal)).toContain('"type":"turn_aborted"');
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s at the question exits with %i and runs nothing", async (name, code) => {
  const { terminal, runs, running } = await opened([calls("effect", "c1", { what: "it" })]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.signal(name);
  expect(await running).toBe(code);
  expect(runs).toEqual([]);
});

test("a terminal that closes at the question does not approve", async () => {
  const { terminal, runs, running } = await opened([calls("effect", "c1", { what: "it" }), says("Then not.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.hangUp();
  expect(await running).toBe(0);
  expect(runs).toEqual([]);
});

test("a question disappears when its approval request times out", async () => {
  const { terminal, runs } = await opened([calls("effect", "c1", { what: "it" }), says("Nobody there.")], {
    config: { turnLimits: { approvalSeconds: 0.2 } },
  });
  terminal.type("go\r");
  await terminal.shows(question);
  await terminal.shows("Nobody there.\n");
  await terminal.shows(prompt);
  expect(runs).toEqual([]);
});

test("approval questions leak no listeners", async () => {
  const { terminal, running } = await opened([
    ...["1", "2", "3"].map((what) => calls("effect", what, { what })),
    says("Done."),
  ]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type(ctrlD);
  await terminal.shows(question);
  const before = terminal.listeners;
  for (const what of ["2", "3"]) {
    terminal.type("y\r");
    await terminal.shows(`  effect ${what}\n`);
    await terminal.shows(question);
  }
  expect(terminal.listeners).toBe(before);
  terminal.type("y\r");
  await terminal.shows("Done.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

test("on-failure is a deprecated alias of on-request, with one warning", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" }), says("Done.")]);
  const running = terminal.run("--approval-policy", "on-failure");
  await terminal.shows(prompt);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("y\r");
  await terminal.shows("Done.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(runs).toEqual(["it"]);
  expect(terminal.errors.split("on-failure").length - 1).toBe(1);
});

test("Ctrl-C while a tool runs aborts the turn and returns to the prompt", async () => {
  const gate = new Gate({ readOnly: true });
  const { terminal, running } = await opened([calls("wait", "c1"), says("Again.")], { tools: [gate.tool] });
  terminal.type("go\r");
  await gate.reached;
  terminal.type(ctrlC);
  await terminal.tells("Interrupted.\n");
  await terminal.shows(prompt);
  terminal.type("again\r");
  await terminal.shows("Again.\n");
  terminal.type(ctrlD);
  expect(await running).toBe(0);
  expect(terminal.exits).toEqual([]);
});

async function rollout({ home }: FakeTerminal): Promise<string> {
  const folder = join(home, "conversations");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))).join("");
}

test("answer n with a text tells the model what to do instead", async () => {
  const { terminal, runs, model } = await opened([calls("effect", "c1", { what: "it" }), says("As you like.")]);
  terminal.type("go\r");
  await terminal.shows(question);
  terminal.type("n use the other one\r");
  await terminal.shows("As you like.\n");
  expect(runs).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.input)).toContain("effect was refused: use the other one");
});

test("answer p allows a plain command in this project for good, where the question offers it", async () => {
  const { terminal } = await opened([calls("shell", "c1", { command: "seq 3" }), says("Done.")]);
  terminal.type("go\r");
  await terminal.shows("If you always allow it, it may also run with more arguments.\n");
  await terminal.shows("[p] always allow it in this project");
  await terminal.shows("y/a/p/n/s › ");
  terminal.type("p\r");
  await terminal.shows("Done.\n");
  expect(await readFile(join(terminal.home, "permissions.json"), "utf8")).toContain('"seq 3 *"');
});

test("the plain prompt has no symbol in its question", async () => {
  const { terminal, runs } = await prepared([calls("effect", "c1", { what: "it" }), says("Done.")]);
  const running = terminal.run("--plain");
  await terminal.shows("> ");
  terminal.type("go\r");
  await terminal.shows("y/a/n/s > ");
  terminal.type("y\r");
  await terminal.shows("Done.\n");
  expect(runs).toEqual(["it"]);
  terminal.type(ctrlD);
  expect(await running).toBe(0);
});

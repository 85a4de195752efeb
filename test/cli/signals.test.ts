import { once } from "node:events";
import { expect, test } from "vitest";
import { Cli, finished, saysOn } from "../support/cli.js";

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s during a turn records the abort and exits with %i", async (signal, code) => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start(["chat", "hello"], { middle: "hold" });
  await saysOn(child.stdout, "I am");
  child.kill(signal);
  const result = await finished(child);
  expect(result).toMatchObject({ code, signal: null, stdout: expect.stringMatching(/^I am.*\n$/) });
  const [id = ""] = await cli.ids();
  expect((await cli.lines(id)).at(-1)?.payload).toMatchObject({ type: "turn_aborted", reason: "interrupted" });
  expect(await cli.run(["chat", "What is 6 * 7?"])).toMatchObject({ code: 0, stdout: "6 * 7 = 42\n" });
  expect(await cli.ids()).toEqual([id]);
});

test("repeated Ctrl-C exits with 130 and leaves a file that can be resumed", async () => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start(["chat", "hello"], { middle: "hold" });
  await saysOn(child.stdout, "I am");
  for (let times = 0; times < 20; times += 1) child.kill("SIGINT");
  expect(await finished(child)).toMatchObject({ code: 130 });
  const [id = ""] = await cli.ids();
  expect(await cli.run(["resume", id])).toMatchObject({ code: 0 });
});

test("Ctrl-C while piped lines are answered ends the run, and later lines are not sent", async () => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start([], { middle: "hold" });
  child.stdin.write("hello\nagain\n");
  await saysOn(child.stdout, "I am");
  child.kill("SIGINT");
  expect(await finished(child)).toMatchObject({ code: 130 });
  const [id = ""] = await cli.ids();
  expect(await cli.said(id)).toEqual(["hello"]);
});

test("Ctrl-C while waiting for the next line ends the run", async () => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start([]);
  child.stdin.write("What is 6 * 7?\n");
  await saysOn(child.stdout, "42\n");
  child.kill("SIGTERM");
  expect(await finished(child)).toMatchObject({ code: 143 });
});

test("Ctrl-C while chat waits for its text ends it", async () => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start(["chat"], { env: { CODY_DEBUG: "1" } });
  child.stdin.write("half a ");
  await once(child, "spawn");
  child.kill("SIGINT");
  const [code, signal] = await once(child, "close");
  // Before cody's handler is installed, the signal itself ends the process.
  expect([code ?? 130, signal ?? "SIGINT"]).toEqual([130, "SIGINT"]);
  expect(await cli.ids()).toEqual([]);
});

test("when the reader of the answer is gone, the turn is still saved and the exit is silent", async () => {
  const cli = await Cli.open({ spawned: true });
  const child = cli.start(["chat", "hello"]);
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/EPIPE/);
  const [id = ""] = await cli.ids();
  expect((await cli.lines(id)).at(-1)?.payload).toMatchObject({ type: "task_complete" });
});

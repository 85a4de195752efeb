import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isProcessDead } from "../../src/base/process/process-state.js";
import { ControlClient } from "../../src/control/control-client.js";
import { Cli, type CliResult } from "../support/cli.js";
import { ownSockets } from "../support/own-sockets.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A home whose daemon is killed when the test ends. */
async function openHome() {
  const cli = await Cli.open({ spawned: true });
  const env = { XDG_RUNTIME_DIR: await temporaryFolder() };
  const run = (...args: string[]): Promise<CliResult> => cli.run(args, { env });
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);
  onTestFinished(async () => {
    for (const path of await ownSockets(env)) {
      const client = await ControlClient.connect(path).catch(() => undefined);
      if (client !== undefined) kill(client.welcome.pid);
      client?.close();
    }
  });
  const linesOf = (id: string) => rolloutLines(join(cli.conversations, `${id}.jsonl`));
  /** Waits until the conversation waits for an approval. */
  const asks = async (id: string): Promise<string> => {
    for (;;) {
      const { approvals } = await json("approvals");
      const own = approvals.find((each: { conversationId: string }) => each.conversationId === id);
      if (own !== undefined) return own.approvalId;
    }
  };
  /** Waits until so many turns have ended. */
  const ends = async (id: string, count: number): Promise<void> => {
    for (;;) {
      const ended = (await linesOf(id)).filter(({ payload }) => payload["type"] === "task_complete");
      if (ended.length === count) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const decisions = async (id: string): Promise<unknown[]> =>
    (await linesOf(id)).flatMap(({ payload }) => (payload["type"] === "approval_decided" ? [payload["decision"]] : []));
  return { cli, run, json, asks, ends, decisions };
}

function kill(pid: number): void {
  if (!isProcessDead(pid)) process.kill(pid, "SIGKILL");
}

test("the daemon opens a saved conversation for a message, and plays its turn", { timeout: 60_000 }, async () => {
  const { cli, run, json, ends } = await openHome();
  expect(await run("daemon", "status")).toMatchObject({ code: 1, stdout: "The daemon is not running.\n" });
  const { id } = await json("new");
  expect((await run("send", id, "hello")).stderr).toContain("cody daemon start");
  expect((await run("daemon", "start")).stdout).toMatch(/^The daemon is started: pid \d+, cody /);
  const again = await json("daemon", "start");
  expect(await json("daemon", "status")).toMatchObject({ running: true, pid: again.pid, conversations: 0 });
  expect((await json("send", id, "what is 2+2?", "--key", "k")).status).toBe("accepted");
  expect((await json("send", id, "what is 2+2?", "--key", "k")).status).toBe("duplicate");
  await ends(id, 1);
  expect(await cli.said(id)).toEqual(["what is 2+2?"]);
  expect(await json("ps")).toMatchObject({ conversations: [{ conversation_id: id, kind: "daemon", pid: again.pid }] });
  expect(await run("daemon", "stop")).toMatchObject({ code: 0, stdout: `Stopped the daemon (pid ${again.pid}).\n` });
  await expect
    .poll(async () => (await run("daemon", "logs")).stdout, { timeout: 30_000 })
    .toMatch(/started cody[^]*opened conv_[^]*stopped\n$/);
  expect((await run("daemon", "stop")).stdout).toBe("The daemon is not running.\n");
});

test("several starts at once start one daemon", { timeout: 60_000 }, async () => {
  const { run, json } = await openHome();
  const results = await Promise.all([run("daemon", "start"), run("daemon", "start"), run("daemon", "start")]);
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  const pids = results.map(({ stdout }) => /pid (\d+)/.exec(stdout)?.[1]);
  expect(new Set(pids).size).toBe(1);
  expect((await json("daemon", "stop")).running).toBe(false);
});

test("a request for approval survives a stop, a kill and a restart, and runs once", { timeout: 120_000 }, async () => {
  const { cli, run, json, asks, ends, decisions } = await openHome();
  const { id } = await json("new");
  await run("daemon", "start");
  await run("send", id, "run echo survived >> effect.txt");
  const approvalId = await asks(id);
  await run("daemon", "stop");
  expect((await json("approvals")).approvals).toMatchObject([{ conversationId: id, state: "saved" }]);
  const { pid } = await json("daemon", "start");
  kill(pid);
  while ((await json("daemon", "status")).running === true) await new Promise((resolve) => setImmediate(resolve));
  await run("daemon", "start");
  expect((await json("approvals", "answer", approvalId, "yes")).status).toBe("recorded");
  await run("send", id, "thank you");
  await ends(id, 2);
  expect(await decisions(id)).toEqual(["approved"]);
  expect(await readFile(join(cli.project, "effect.txt"), "utf8")).toBe("survived\n");
  await run("daemon", "stop");
});

test("a changed configuration applies to the next message of an idle conversation", { timeout: 60_000 }, async () => {
  const { run, json, asks, ends, decisions } = await openHome();
  const { id } = await json("new");
  await run("daemon", "start");
  await run("send", id, "run echo one");
  await run("approvals", "answer", await asks(id), "no");
  await ends(id, 1);
  await run("config", "set", "approvalPolicy", "never");
  await run("send", id, "run echo two");
  await ends(id, 2);
  expect(await decisions(id)).toEqual(["denied"]);
  await run("daemon", "stop");
});

test("the unit for systemd runs the daemon of this home; other actions are errors", { timeout: 60_000 }, async () => {
  const { run } = await openHome();
  expect(await run("daemon", "unit")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /ExecStart=".*" ".*main\.cjs" "daemon" "run" "--home" ".*"\nRestart=on-failure/,
    ) as string,
  });
  expect(await run("daemon", "restart")).toMatchObject({ code: 2 });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, commandOf, finished } from "../support/cli.js";
import { metaLine, user } from "../rollouts/search/rollout-library.js";

/** For commands that skip the fast path, which only the built program has. */
const inProcess = { spawned: false };

/** Conversations in a folder that has not changed for long. */
async function openWithConversations(count = 20): Promise<Cli> {
  const cli = await Cli.open({ spawned: true });
  mkdirSync(cli.conversations, { recursive: true });
  for (let index = 0; index < count; index += 1) {
    const path = join(cli.conversations, `conv_${index}.jsonl`);
    writeFileSync(path, metaLine(`conv_${index}`) + user("Grüße"));
    utimesSync(path, 1_000 + index, 1_000 + index);
  }
  utimesSync(cli.conversations, 1_000, 1_000);
  return cli;
}

/** A flag that skips the fast path, because only the full command supports it. */
const slowPathFlags = ["--sort", "updated"];

test("a page from the cache equals one that is read from the files", async () => {
  const cli = await openWithConversations();
  for (const args of [["--limit", "2"], ["--json", "--limit", "3"], [], ["--json"]]) {
    const expected = await cli.run(["list", ...args, ...slowPathFlags], inProcess);
    expect(expected).toMatchObject({ code: 0, stderr: "" });
    expect(await cli.run(["list", ...args])).toEqual(expected);
  }
});

test("changed conversations are listed again, in every directory", async () => {
  const cli = await openWithConversations();
  await cli.run(["list"]);
  await cli.run(["rename", "conv_7", "lucky"], inProcess);
  expect((await cli.run(["list"])).stdout).toContain("  conv_7\n    Name: lucky\n");
  await cli.run(["chat", "--provider", "offline", "--resume", "conv_7", "hello"], inProcess);
  expect((await cli.run(["list", "--limit", "1"])).stdout).toMatch(
    /^Saved Conversations:\n\n {2}conv_7\n {4}Name: lucky\n/,
  );
  const elsewhere = join(cli.project, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "conv_there.jsonl"), metaLine("conv_there"));
  writeFileSync(join(cli.home, "config.json"), JSON.stringify({ persistence: { directory: elsewhere } }));
  expect((await cli.run(["list", "--limit", "1"])).stdout).toContain("  conv_there (empty)\n");
});

test("usage errors are reported as on the slow path", async () => {
  const cli = await openWithConversations();
  await cli.run(["list"]);
  expect(await cli.run(["list", "--limit", "0"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--limit"),
  });
  expect(await cli.run(["list", "--limit"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--limit") });
  expect(await cli.run(["list", "--frob"])).toMatchObject({ code: 2 });
  expect((await cli.run(["list", "--help"])).stdout).toContain("cody list [options]");
});

test("a slow reader gets the full list, a closed pipe causes no error, and a full disk does", async () => {
  const cli = await openWithConversations(1_000);
  const { stdout } = await cli.run(["list", ...slowPathFlags], inProcess);
  expect(stdout.length).toBeGreaterThan(65_536);
  const slow = cli.start(["list"]);
  await once(slow.stdout, "readable");
  expect(await finished(slow)).toMatchObject({ code: 0, stdout });
  const left = cli.start(["list"]);
  await once(left.stdout, "readable");
  left.stdout.destroy();
  expect(await once(left, "close")).toEqual([0, null]);
  const [program, ...args] = commandOf(["list"]);
  const full = spawn("sh", ["-c", 'exec "$0" "$@" > /dev/full', program, ...args], { env: cli.env, stdio: "pipe" });
  expect(await finished(full)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Cannot write the output"),
  });
});

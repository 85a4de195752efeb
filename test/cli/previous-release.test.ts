import { chmod, cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

/** A home written by the first build of 0.1.0: two conversations, one with a tool call and a compaction, one named. */
const oldHome = fileURLToPath(new URL("../fixtures/home-0.1.0", import.meta.url));
const [ada, second] = ["conv_01a1f214-b754-77d0-aaa0-07296a982818", "conv_01a1f214-c8ab-7517-b953-5eb17a27fd63"];

async function openOldHome(): Promise<Cli> {
  const cli = await Cli.open();
  await cp(oldHome, cli.home, { recursive: true });
  // Git keeps no rights but that of execution.
  await chmod(cli.home, 0o700);
  for (const entry of await readdir(cli.home, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  return cli;
}

test("a home of an earlier release is listed, continued and compacted without a migration", async () => {
  const cli = await openOldHome();
  const before = await readFile(join(cli.conversations, `${ada}.jsonl`), "utf8");
  expect((await cli.run(["doctor"])).code).toBe(0);
  const listed = JSON.parse((await cli.run(["list", "--json"])).stdout) as { id: string }[];
  expect(listed.toSorted((one, other) => one.id.localeCompare(other.id))).toMatchObject([
    { id: ada, title: "my name is Ada", damaged: false },
    { id: second, name: "second", pinned: true, damaged: false },
  ]);
  expect((await cli.run(["diff", ada])).stdout).toContain("+one");
  expect(await cli.run(["chat", "-r", "second", "what is my name?"])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Bob.\n",
  });
  expect(await cli.run(["chat", "-r", ada, "what is my name?"])).toMatchObject({
    code: 0,
    stdout: "You told me: your name is Ada.\n",
  });
  expect((await cli.run(["compact", "-r", ada])).code).toBe(0);
  const after = await readFile(join(cli.conversations, `${ada}.jsonl`), "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after.length).toBeGreaterThan(before.length);
});

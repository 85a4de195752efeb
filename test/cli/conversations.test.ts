import { copyFile, mkdir, readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";

async function makeOlder(cli: Cli, id: string, days: number): Promise<void> {
  const then = (Date.now() - days * 24 * 60 * 60 * 1000) / 1000;
  await utimes(join(cli.conversations, `${id}.jsonl`), then, then);
}

async function converse(cli: Cli, ...lines: string[]): Promise<string> {
  const { code, stdout } = await cli.run([], { input: lines.map((line) => `${line}\n`).join("") });
  expect(code).toBe(0);
  return stdout;
}

test("/conversations shows the title of each conversation", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", `my name is Alice and ${"so on ".repeat(40)}\nsecond line`]);
  const [id = ""] = await cli.ids();
  const [shown, when, first, last] = (await converse(cli, "/conversations")).split("\n").slice(1);
  expect(shown).toBe(`  ${id}`);
  expect(when).toMatch(/^ {4}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, 2 messages, \d.* (?:bytes|kB)$/);
  expect(first).toMatch(/^ {4}First: my name is Alice and .{0,79}…$/);
  expect(last).toMatch(/^ {4}Last answer: ./);
});

test("/conversations shows the ten newest of this project", async () => {
  const cli = await Cli.open();
  const other = join(cli.project, "other");
  await mkdir(join(other, ".git"), { recursive: true });
  await cli.run(["new"], { cwd: other });
  const source = join(cli.conversations, `${(await cli.run(["new"])).stdout.trim()}.jsonl`);
  for (let number = 10; number < 21; number += 1) {
    await copyFile(source, join(cli.conversations, `conv_01a1e278-c9af-73b9-84ae-93f3a1bd5b${number}.jsonl`));
  }
  const lines = (await converse(cli, "/conversations")).split("\n");
  expect(lines.filter((line) => line.startsWith("  conv_"))).toHaveLength(10);
  expect(lines.at(-2)).toBe("Showing the latest 10 of 12. To list all: cody list --project");
});

test("/conversations clean and clean-all move conversations to the trash, except the open one", async () => {
  const cli = await Cli.open();
  const ids = [];
  for (const days of [1, 8]) {
    const id = (await cli.run(["new"])).stdout.trim();
    await makeOlder(cli, id, days);
    ids.push(id);
  }
  const [fresh = "", old = ""] = ids;
  const other = join(cli.project, "other");
  await mkdir(join(other, ".git"), { recursive: true });
  const elsewhere = (await cli.run(["new"], { cwd: other })).stdout.trim();
  await makeOlder(cli, elsewhere, 90);
  expect(await converse(cli, "/conversations clean")).toContain(`✓ Moved 1 conversation to the trash`);
  expect((await cli.ids()).toSorted()).toEqual([fresh, elsewhere].toSorted());
  expect(await converse(cli, "/conversations clean")).toBe("No conversations older than 7 days.\n");
  const all = await converse(cli, "hello", "/conversations clean-all", "/conversations nonsense");
  expect(all).toContain(`  ${fresh}\n`);
  expect(all).toContain("The current conversation is kept.\n");
  expect(all).toContain("Usage: /conversations, /conversations clean or /conversations clean-all\n");
  expect(await cli.ids()).toHaveLength(2);
  expect((await cli.run(["undelete"])).stdout).toContain(old);
});

test("/conversations with persistence off says so", async () => {
  const cli = await Cli.open();
  const { code, stdout } = await cli.run(["--no-persistence"], { input: "/conversations\n/conversations clean-all\n" });
  expect(code).toBe(0);
  expect(stdout.split("\n").filter((line) => line.includes("persistence is off"))).toHaveLength(2);
});

test("/clear starts a conversation with a new id and does not change the old file", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "one"]);
  const [old = ""] = await cli.ids();
  const before = await readFile(join(cli.conversations, `${old}.jsonl`), "utf8");
  const { stdout } = await cli.run(["--continue"], { input: "/clear\ntwo\n" });
  expect(stdout).toContain("Conversation history cleared.\n");
  expect(await readFile(join(cli.conversations, `${old}.jsonl`), "utf8")).toBe(before);
  const fresh = (await cli.ids()).find((id) => id !== old) ?? "";
  expect(await cli.said(fresh)).toEqual(["two"]);
});

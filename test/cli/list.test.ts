import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli, finished } from "../support/cli.js";

test("an empty home has no conversations", async () => {
  const cli = await Cli.open();
  const text = "No saved conversations.\nCreate one: cody new\n";
  expect(await cli.run(["list"])).toEqual({ code: 0, signal: null, stdout: text, stderr: "" });
  expect((await cli.run(["--list"])).stdout).toBe(text);
  expect((await cli.run(["list", "--json"])).stdout).toBe("[]\n");
});

test("conversations are listed newest first, with what is known about them", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  await save(cli, "conv_b", "2026-11-16T01:02:03Z", [meta({ provider: "openai", model: "gpt-4o" }), said("hi")]);
  await save(cli, "conv_c", "2026-11-16T01:02:02Z", [meta({}), said("hi")]);
  await save(cli, "conv_d", "2026-11-16T01:02:01Z", []);
  await save(cli, "conv_e", "2026-11-16T01:02:00Z", ["invalid json", "{broken"]);
  await save(cli, "conv_a", "2026-11-16T01:02:04Z", [meta({ provider: "offline", model: "offline" }), said("hi")]);
  const { stdout, code } = await cli.run(["list"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`Saved Conversations:

  conv_a
    Provider: offline (offline)
    Updated: 2026-11-16 01:02:04

  conv_b
    Provider: openai (gpt-4o)
    Updated: 2026-11-16 01:02:03

  conv_c
    Provider: unknown (unknown)
    Updated: 2026-11-16 01:02:02

  conv_d (empty)
    Provider: unknown (unknown)
    Updated: 2026-11-16 01:02:01

  conv_e (damaged)
    Provider: unknown (unknown)
    Updated: 2026-11-16 01:02:00

Total: 5 conversation(s)
`);
  expect((await cli.run(["--list"])).stdout).toBe(stdout);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)).toHaveLength(5);
  expect(JSON.parse((await cli.run(["list", "--json", "--limit", "2"])).stdout)).toMatchObject([
    { id: "conv_a", provider: "offline", empty: false, damaged: false },
    { id: "conv_b", provider: "openai", model: "gpt-4o" },
  ]);
});

test("a new conversation is listed as empty, and --project shows only this project's", async () => {
  const cli = await Cli.open();
  const elsewhere = join(cli.project, "elsewhere");
  await mkdir(elsewhere);
  const here = (await cli.run(["new"])).stdout.trim();
  await cli.run(["new"], { cwd: elsewhere });
  const { stdout } = await cli.run(["list", "--project"]);
  expect(stdout).toContain(`  ${here} (empty)\n`);
  expect(stdout).toContain("Total: 1 conversation(s)");
});

test.each(["0", "-1", "many", "1.5"])("--limit %s is refused", async (limit) => {
  const cli = await Cli.open();
  expect(await cli.run(["list", `--limit=${limit}`])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--limit"),
  });
});

test("a directory that cannot be listed is an error with its path", async () => {
  const cli = await Cli.open();
  await mkdir(cli.home);
  await writeFile(cli.conversations, "");
  const { code, stderr } = await cli.run(["list"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(cli.conversations) });
});

test("a large list arrives whole through a slow pipe", async () => {
  const cli = await Cli.open();
  await saveMany(cli, 1200);
  const child = cli.start(["list"]);
  // The pipe is full long before the end, and nobody reads until the process has nothing else to do.
  await once(child.stdout, "readable");
  const { code, stdout } = await finished(child);
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(65_536);
  expect(stdout).toMatch(/\nTotal: 1200 conversation\(s\)\n$/);
});

test("a reader that leaves early is no reason to complain", async () => {
  const cli = await Cli.open();
  await saveMany(cli, 1200);
  const child = cli.start(["list"]);
  await once(child.stdout, "readable");
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [code] = await once(child, "close");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

async function saveMany(cli: Cli, count: number): Promise<void> {
  await mkdir(cli.conversations, { recursive: true });
  const text = `${meta({ provider: "offline", model: "offline" })}\n${said("hi")}\n`;
  for (let index = 0; index < count; index += 1) writeFileSync(join(cli.conversations, `conv_${index}.jsonl`), text);
}

async function save(cli: Cli, id: string, updated: string, lines: readonly string[]): Promise<void> {
  const path = join(cli.conversations, `${id}.jsonl`);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  await utimes(path, new Date(updated), new Date(updated));
}

function meta(metadata: { provider?: string; model?: string }): string {
  const payload = { id: "a", timestamp: "2026-11-16T00:00:00.000Z", cwd: "/", originator: "cody", cli_version: "0" };
  return JSON.stringify({ timestamp: payload.timestamp, type: "session_meta", metadata, payload });
}

function said(message: string): string {
  const payload = { type: "user_message", message };
  return JSON.stringify({ timestamp: "2026-11-16T00:00:00.000Z", type: "event_msg", payload });
}

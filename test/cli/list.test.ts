import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { appendFile, mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cursorText } from "../../src/rollouts/list/cached-list.js";
import { Cli, finished } from "../support/cli.js";

test("list in an empty home shows no conversations", async () => {
  const cli = await Cli.open();
  const text = "No saved conversations.\nCreate one: cody new\n";
  expect(await cli.run(["list"])).toEqual({ code: 0, signal: null, stdout: text, stderr: "" });
  expect((await cli.run(["--list"])).stdout).toBe(text);
  expect((await cli.run(["list", "--json"])).stdout).toBe("[]\n");
});

test("conversations are listed newest first, with their details", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  await save(cli, "conv_b", "2026-11-16T01:02:03Z", [
    metaLine({ provider: "openai", model: "gpt-4o" }),
    userMessageLine("hi"),
  ]);
  await save(cli, "conv_c", "2026-11-16T01:02:02Z", [metaLine({}), userMessageLine("hi")]);
  await save(cli, "conv_d", "2026-11-16T01:02:01Z", []);
  await save(cli, "conv_e", "2026-11-16T01:02:00Z", ["invalid json", "{broken"]);
  await save(cli, "conv_a", "2026-11-16T01:02:04Z", [
    metaLine({ provider: "offline", model: "offline" }),
    userMessageLine("hi"),
  ]);
  const { stdout, code } = await cli.run(["list"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`Saved Conversations:

  conv_a
    Title: hi
    Provider: offline (offline)
    Updated: 2026-11-16 01:02:04

  conv_b
    Title: hi
    Provider: openai (gpt-4o)
    Updated: 2026-11-16 01:02:03

  conv_c
    Title: hi
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

test("list --json prints every field of each conversation", async () => {
  const cli = await Cli.open();
  await mkdir(join(cli.project, ".git", "refs", "heads"), { recursive: true });
  await writeFile(join(cli.project, ".git", "HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(cli.project, ".git", "refs", "heads", "main"), `${"0123456789".repeat(4)}\n`);
  await cli.run(["chat", `My name is ${"Alice ".repeat(20)}\nand this is another line`]);
  const [id = ""] = await cli.ids();
  const [listed, ...others] = JSON.parse((await cli.run(["list", "--json"])).stdout);
  expect(others).toEqual([]);
  expect(listed).toMatchObject({
    id,
    createdAt: expect.any(Number),
    title: `${"My name is Alice Alice Alice Alice Alice Alice Alice Alice Alice Alice Alice Alice".slice(0, 79)}…`,
    cwd: cli.project,
    gitBranch: "main",
    gitCommit: "0123456789".repeat(4),
    path: join(cli.conversations, `${id}.jsonl`),
  });
});

test("a list continues from its cursor, in every order", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  const names = ["delta", "alpha", undefined, "charlie", "bravo"];
  for (const [index, name] of names.entries()) {
    const createdAt = new Date(Date.UTC(2026, 0, 1 + ((index * 3) % 5))).toISOString();
    const lines = [
      metaLine({}).replaceAll("2026-11-16T00:00:00.000Z", createdAt),
      userMessageLine("x".repeat((index * 2) % 5)),
    ];
    await save(cli, `conv_${index}`, `2026-11-16T01:02:0${index}Z`, lines);
    if (name === undefined) continue;
    const entry = { id: `conv_${index}`, thread_name: name, updated_at: createdAt };
    await appendFile(join(cli.conversations, ".names.jsonl"), `${JSON.stringify(entry)}\n`);
  }
  const orders = { updated: "43210", created: "31420", name: "14302", size: "24130" };
  for (const [sort, expected] of Object.entries(orders)) {
    const pages = [];
    let cursor: string | undefined;
    do {
      const go = cursor === undefined ? ["--sort", sort] : ["--cursor", cursor];
      const page = JSON.parse((await cli.run(["list", "--json", "--limit", "2", ...go])).stdout);
      pages.push(page.map(({ id }: { id: string }) => id.slice("conv_".length)).join(""));
      cursor = page.at(-1).nextCursor;
    } while (cursor !== undefined);
    expect(pages).toEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4)]);
  }
  const { stdout } = await cli.run(["list", "--limit", "4"]);
  const [, more = ""] =
    /\nTotal: 5 conversation\(s\), showing 4\nMore: cody (list --limit 4 --cursor \S+)\n$/.exec(stdout) ?? [];
  expect((await cli.run(more.split(" "))).stdout).toMatch(/ {2}conv_0\n[^]+\nTotal: 5 conversation\(s\), showing 1\n$/);
});

test("list shows the title, the last model and the total", async () => {
  const cli = await Cli.open();
  await mkdir(cli.conversations, { recursive: true });
  const first = [metaLine({ provider: "openai", model: "gpt-4o" }), userMessageLine("Fix \u001b[31mthe\u202e build")];
  await save(cli, "conv_a", "2026-11-16T01:02:03Z", [...first, turnContextLine("openai", "gpt-4o")]);
  await save(cli, "conv_b", "2026-11-16T01:02:02Z", [metaLine({}), userMessageLine("hi")]);
  await save(cli, "conv_c", "2026-11-16T01:02:01Z", [metaLine({}), userMessageLine("hi")]);
  const page = async () => (await cli.run(["list", "--limit", "1"])).stdout;
  expect(await page()).toContain(
    "  conv_a\n    Title: Fix \\033[31mthe\\342\\200\\256 build\n    Provider: openai (gpt-4o)\n",
  );
  await save(cli, "conv_a", "2026-11-16T01:02:04Z", [
    ...first,
    turnContextLine("openai", "gpt-4o"),
    turnContextLine("anthropic", "opus"),
  ]);
  for (const _ of ["looked up", "from the cache"]) {
    expect(await page()).toMatch(
      / {4}Provider: anthropic \(opus\)\n[^]+\nTotal: 3 conversation\(s\), showing 1\nMore: cody list .*\n$/,
    );
    // The cache is used once the folder has not changed for a while.
    await utimes(cli.conversations, 1_000, 1_000);
    expect(JSON.parse((await cli.run(["list", "--limit", "2", "--json"])).stdout)).toMatchObject([
      { id: "conv_a", provider: "anthropic", model: "opus" },
      { id: "conv_b", title: "hi", total: 3, nextCursor: expect.any(String) },
    ]);
  }
  for (const args of [["--all"], ["--sort", "created"]]) {
    expect((await cli.run(["list", "--limit", "2", ...args])).stdout).toContain("Total: 3 conversation(s), showing 2");
  }
  expect((await cli.run(["list", "--limit", "3"])).stdout).toMatch(/\nTotal: 3 conversation\(s\)\n$/);
  expect(JSON.parse((await cli.run(["list", "--json"])).stdout)[2]).not.toHaveProperty("total");
});

test("list --all covers every directory and lists a conversation in two of them once", async () => {
  const cli = await Cli.open();
  const day = join(cli.project, ".codex", "sessions", "2026", "11", "16");
  const uuid = "01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
  const chosen = join(cli.project, "chosen");
  for (const folder of [cli.conversations, day, chosen]) await mkdir(folder, { recursive: true });
  await save(cli, "conv_own", "2026-11-16T01:02:03Z", [metaLine({}), userMessageLine("hi")]);
  const inCodex = [`rollout-2026-11-16T00-00-00-${uuid}`, "rollout-2026-11-16T00-00-00-conv_own"];
  for (const name of inCodex)
    await writeFile(join(day, `${name}.jsonl`), `${metaLine({})}\n${userMessageLine("hi")}\n`);
  await writeFile(join(chosen, "conv_chosen.jsonl"), `${metaLine({})}\n`);
  const ids = async (...args: string[]) =>
    JSON.parse((await cli.run(["list", "--json", "--sort", "name", ...args])).stdout).map(
      ({ id }: { id: string }) => id,
    );
  expect(await ids()).toEqual(["conv_own"]);
  expect(await ids("--all")).toEqual(["rollout-2026-11-16T00-00-00-conv_own", "conv_own", `conv_${uuid}`]);
  expect(await ids("--all", "--conversation-dir", chosen)).toContain("conv_chosen");
  expect(await ids("--all", "--project")).toEqual([]);
});

test.each([
  { args: ["--sort", "colour"], complaint: "--sort: expected one of updated, created, name, size, not 'colour'" },
  { args: ["--cursor", "what"], complaint: "--cursor: invalid cursor 'what'. Use one printed by cody list" },
  { args: ["--cursor", cursorText({ order: "colour", key: 1, id: "conv_a" })], complaint: "--cursor: invalid cursor" },
  {
    args: ["--cursor", cursorText({ order: "updated", key: "1", id: "conv_a" })],
    complaint: "--cursor: invalid cursor",
  },
  {
    args: ["--sort", "name", "--cursor", cursorText({ order: "size", key: 1, id: "conv_a" })],
    complaint: "--cursor: this cursor is from a list with --sort size, not --sort name",
  },
])("$args is rejected", async ({ args, complaint }) => {
  const cli = await Cli.open();
  expect(await cli.run(["list", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(complaint) });
});

test.each(["0", "-1", "many", "1.5"])("--limit %s is rejected", async (limit) => {
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

test("a large list arrives in full through a slow pipe", async () => {
  const cli = await Cli.open();
  await saveMany(cli, 1200);
  const child = cli.start(["list"]);
  // The pipe fills up long before the end, and the reader starts only when the process is idle.
  await once(child.stdout, "readable");
  const { code, stdout } = await finished(child);
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(65_536);
  expect(stdout).toMatch(/\nTotal: 1200 conversation\(s\)\n$/);
});

test("a reader that closes the pipe early causes no error", async () => {
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
  const text = `${metaLine({ provider: "offline", model: "offline" })}\n${userMessageLine("hi")}\n`;
  for (let index = 0; index < count; index += 1) writeFileSync(join(cli.conversations, `conv_${index}.jsonl`), text);
}

async function save(cli: Cli, id: string, updated: string, lines: readonly string[]): Promise<void> {
  const path = join(cli.conversations, `${id}.jsonl`);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  await utimes(path, new Date(updated), new Date(updated));
}

function metaLine(metadata: { provider?: string; model?: string }): string {
  const payload = { id: "a", timestamp: "2026-11-16T00:00:00.000Z", cwd: "/", originator: "cody", cli_version: "0" };
  return JSON.stringify({ timestamp: payload.timestamp, type: "session_meta", metadata, payload });
}

function userMessageLine(message: string): string {
  const payload = { type: "user_message", message };
  return JSON.stringify({ timestamp: "2026-11-16T00:00:00.000Z", type: "event_msg", payload });
}

function turnContextLine(provider: string, model: string): string {
  const payload = { cwd: "/", approval_policy: "never", sandbox_policy: { mode: "read-only" }, model, provider };
  return JSON.stringify({ timestamp: "2026-11-16T00:00:00.000Z", type: "turn_context", payload });
}

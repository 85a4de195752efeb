import { mkdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Event } from "../../src/messages/event.js";
import { metaLine, user } from "../rollouts/search/rollout-library.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { Cli } from "../support/cli.js";
import { assistant, calls, type Reply, says, scripted } from "../support/scripted-provider.js";

const hostile = "\u001b]0;owned\u0007 \u001b[2J\u009b31m \u202eevil\u2066\u007f\r\n\tkept";
const neutralized = "\u241b]0;owned\u2407 \u241b[2J\u{fffd}31m \u{fffd}evil\u{fffd}\u2421\n\tkept";
const pipes = { notTTY: ["stdin", "stdout", "stderr"] } as const;

/** An answer in deltas of one character, so that every escape sequence is split. */
function inCharacters(text: string): Reply {
  return [
    ...Array.from(text, (delta) => ({ type: "text_delta", itemId: "item", delta }) as const),
    { type: "item", itemId: "item", item: assistant(text) },
    { type: "done", finishReason: "stop" },
  ];
}

test("control characters of an answer are escaped in a pipe, wherever its deltas are split", async () => {
  const terminal = await FakeTerminal.open(scripted([inCharacters(hostile)]), pipes);
  expect(await terminal.run("chat", "go")).toBe(0);
  expect(terminal.screen).toBe(`${neutralized}\n`);
});

test.each([{}, pipes])("with --raw an answer is printed unchanged: %j", async (options) => {
  const terminal = await FakeTerminal.open(scripted([inCharacters(hostile)]), options);
  expect(await terminal.run("--raw", "chat", "go")).toBe(0);
  expect(terminal.screen).toBe(`${hostile}\n`);
});

test("with --json events are byte-exact in a pipe", async () => {
  const terminal = await FakeTerminal.open(scripted([says(hostile)]), pipes);
  expect(await terminal.run("--json", "chat", "go")).toBe(0);
  const events = terminal.screen
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  expect(terminal.screen).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  expect(events.flatMap(({ msg }) => (msg.type === "agent_message" ? [msg.message] : []))).toEqual([hostile]);
});

test.each([[], ["--raw"]])("control characters on stderr are escaped: %j", async (...flags) => {
  const failing = scripted([
    calls("shell", "c1", { command: ["sh", "-c", "printf 'a\\033[2J\\n'"] }),
    [{ type: "failed", failure: { code: "invalid_request", message: `No ${hostile}`, retryable: false } }],
  ]);
  const terminal = await FakeTerminal.open(failing, { ...pipes, env: { PATH: process.env["PATH"] ?? "" } });
  expect(await terminal.run(...flags, "--sandbox", "danger-full-access", "chat", "go")).not.toBe(0);
  expect(terminal.errors).toContain("  a\u241b[2J\n");
  expect(terminal.errors).toContain(`✗ No ${neutralized.replace("\n", "\n  ")}`);
  expect(terminal.errors).not.toMatch(/\p{Cc}(?<![\n\t])|[\u202a-\u202e\u2066-\u2069]/u);
});

/** A conversation whose file holds control characters in its model's name and in its text. */
async function hostileConversation(): Promise<{ cli: Cli; id: string }> {
  const cli = await Cli.open();
  const id = "conv_hostile";
  const meta = JSON.parse(metaLine(id)) as { metadata: Record<string, unknown> };
  meta.metadata["model"] = `docker ${hostile}`;
  mkdirSync(cli.conversations, { recursive: true });
  writeFileSync(join(cli.conversations, `${id}.jsonl`), `${JSON.stringify(meta)}\n${user(`docker ${hostile}`)}`);
  return { cli, id };
}

test("list and search escape control characters unless --raw or --json is given", async () => {
  const { cli } = await hostileConversation();
  // The second list is printed from the cache.
  for (const args of [["list"], ["list"], ["search", "docker"]]) {
    const { stdout } = await cli.run(args);
    expect(stdout).toContain("docker \u241b]0;owned\u2407");
    expect(stdout).not.toMatch(/\p{Cc}(?<![\n\t])|[\u202a-\u202e\u2066-\u2069]/u);
    expect((await cli.run([...args, "--raw"])).stdout).toContain("\u001b[2J\u009b31m \u202eevil\u2066\u007f");
    expect((await cli.run([...args, "--json"])).stdout).toContain("\u009b31m \u202eevil\u2066\u007f");
  }
});

test.each(["json", "codex", "html"])("an export to stdout as %s equals an export to a file", async (format) => {
  const { cli, id } = await hostileConversation();
  const path = join(cli.project, "exported");
  await cli.run(["export", id, "--format", format, "--output", path]);
  const { stdout } = await cli.run(["export", id, "--format", format, "--output", "-"]);
  // The time of the export is the only difference.
  expect(withoutTimes(stdout)).toBe(withoutTimes(await readFile(path, "utf8")));
  expect(stdout).toContain("docker");
});

test("a diff to a pipe keeps carriage returns and escape sequences", async () => {
  const file = "one\u001b[2J\r\ntwo\r\n";
  const patch = "sed -i s/one/1/ a.txt";
  const provider = scripted([calls("shell", "c1", { command: ["sh", "-c", patch] }), says("Done.")]);
  const terminal = await FakeTerminal.open(provider, { ...pipes, env: { PATH: process.env["PATH"] ?? "" } });
  await writeFile(join(terminal.cwd, "a.txt"), file);
  await terminal.run("--sandbox", "danger-full-access", "chat", "go");
  const before = terminal.screen.length;
  expect(await terminal.run("diff")).toBe(0);
  expect(terminal.screen.slice(before)).toContain("-one\u001b[2J\r\n+1\u001b[2J\r\n two\r\n");
});

test("a knowledge export to stdout equals one to a file", async () => {
  const cli = await Cli.open();
  await cli.run(["knowledge", "add", "Use \u009b31m \u202epnpm"]);
  const path = join(cli.project, "exported");
  await cli.run(["knowledge", "export", "--output", path]);
  const { stdout } = await cli.run(["knowledge", "export"]);
  expect(stdout).toBe(await readFile(path, "utf8"));
  expect(stdout).toContain("pnpm");
});

function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, "");
}

import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal, type FakeOptions } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const day = 24 * 60 * 60 * 1000;
const notice = "will be moved to the trash";

/** A home with an old conversation, and a way to start cody on later days. */
async function oldHome() {
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  const directory = join(home, "conversations");
  let now = Date.now();
  async function stderrOf(options: FakeOptions, ...args: string[]): Promise<string> {
    const provider = scripted([says("answer")]);
    const terminal = await FakeTerminal.open(provider, { home, cwd, now: () => now, ...options });
    expect(await terminal.run("chat", "hello", ...args)).toBe(0);
    return terminal.errors;
  }
  await stderrOf({}, "--name", "kept");
  const name = "conv_01a1e278-c9af-73b9-84ae-93f3a1bd5b54";
  const source = (await readdir(directory)).find((file) => file.startsWith("conv_")) ?? "";
  const path = join(directory, `${name}.jsonl`);
  const [first] = (await readFile(join(directory, source), "utf8")).split("\n");
  await writeFile(path, `${first}\n`);
  await utimes(path, 0, 0);
  return { home, directory, name, stderrOf, pass: (days: number) => (now += days * day) };
}

test("the first run tells the user once that conversations are saved", async () => {
  const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
  const open = () => FakeTerminal.open(scripted([says("answer")]), { home, cwd });
  const [first, second] = [await open(), await open()];
  await first.run("chat", "hello");
  expect(first.errors).toContain(
    `Conversations are saved in ${join(home, "conversations")}. Conversations older than 30 days are trashed, after a warning`,
  );
  await second.run("chat", "hello");
  expect(second.errors).not.toContain("Conversations are saved");
});

test("old conversations are announced at the terminal and moved to the trash on a later day", async () => {
  const { home, directory, name, stderrOf, pass } = await oldHome();
  pass(1);
  const announcement = await stderrOf({});
  expect(announcement).toContain(`1 conversation ${notice}:\n  ${name}, last changed 1970-01-01, older than 30 days\n`);
  for (const days of [2, 2, 2]) {
    pass(days);
    expect(await stderrOf({})).toContain("As announced, from");
  }
  expect(await readdir(directory)).toContain(`${name}.jsonl`);
  pass(1);
  expect(await stderrOf({})).toContain(`As announced, 1 conversation is now in the trash: ${name}.`);
  expect(await readdir(directory)).not.toContain(`${name}.jsonl`);
  expect(await readdir(join(home, "trash"))).toHaveLength(1);
});

test("without a terminal, with --json and without persistence nothing is announced or removed", async () => {
  const { directory, name, stderrOf, pass } = await oldHome();
  for (let round = 0; round < 5; round += 1) {
    pass(3);
    expect(await stderrOf({ notTTY: ["stderr"] })).not.toContain(name);
    expect(await stderrOf({}, "--json")).not.toContain(name);
    expect(await stderrOf({}, "--no-persistence")).not.toContain(name);
  }
  expect(await readdir(directory)).toContain(`${name}.jsonl`);
});

test("retentionDays 0 or false keeps everything, and an invalid value is rejected", async () => {
  const { home, name, stderrOf, pass } = await oldHome();
  await writeFile(join(home, "config.json"), JSON.stringify({ persistence: { retentionDays: 0 } }));
  pass(1);
  expect(await stderrOf({})).not.toContain(name);
  await writeFile(join(home, "config.json"), JSON.stringify({ persistence: { retentionDays: false } }));
  pass(1);
  expect(await stderrOf({})).not.toContain(name);
  const cli = await Cli.open();
  expect(await cli.run(["config", "set", "persistence.retentionDays", "false"])).toMatchObject({ code: 0 });
  expect(await cli.run(["config", "set", "persistence.maxConversationsPerProject", "20"])).toMatchObject({ code: 0 });
  expect(await cli.run(["config", "set", "persistence.retentionDays", "soon"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("expected a whole number from 0 to 36500, or false; 0 and false mean no limit"),
  });
  for (const days of ["1.5", "36501", "-1", "true"]) {
    expect(await cli.run(["config", "set", "persistence.retentionDays", days])).toMatchObject({ code: 2 });
  }
});

test("disabling persistence keeps stored conversations, and enabling it finds them again", async () => {
  const cli = await Cli.open();
  await cli.run(["chat", "hello"]);
  const [id] = await cli.ids();
  await cli.run(["config", "set", "persistence.enabled", "false"]);
  expect(await cli.run(["chat", "not kept"])).toMatchObject({ code: 0 });
  expect(await cli.ids()).toEqual([id]);
  expect(await cli.said(id ?? "")).toEqual(["hello"]);
  await cli.run(["config", "set", "persistence.enabled", "true"]);
  await cli.run(["chat", "again"]);
  expect(await cli.said(id ?? "")).toEqual(["hello", "again"]);
});

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandGroups, commandNames, commandRow } from "../../src/cli/arguments/command-table.js";
import { type FlagName, flagNames, flagRow, spellingOf } from "../../src/cli/arguments/flag-table.js";
import { commandArguments } from "../../src/cli/commands/completion/grammar.js";
import { maxWords, wordLines } from "../../src/cli/conversations/conversation-words.js";
import type { SavedConversation } from "../../src/cli/conversations/named-conversations.js";
import { metaLine, user } from "../rollouts/search/rollout-library.js";
import { Cli } from "../support/cli.js";

const helper = "command cody completion --conversations";

function isShown(flag: FlagName): boolean {
  return flagRow(flag).isHidden !== true;
}

test.each(["bash", "zsh", "fish", "man"])(
  "completion %s has every command, group and flag, and no other",
  async (kind) => {
    const cli = await Cli.open();
    const { code, stdout, stderr } = await cli.run(["completion", kind]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const plain = kind === "man" ? stdout.replaceAll("\\-", "-") : stdout.replace(helper, "");
    const words = new Set(plain.split(/[^\w-]+/));
    const groups = commandGroups.flatMap(({ name, aliases, commands }) => [name, ...aliases, ...Object.keys(commands)]);
    const expected = [...commandNames.filter((name) => name !== ""), ...groups];
    expect(expected.filter((word) => !words.has(word))).toEqual([]);
    expect(flagNames.filter((flag) => words.has(spellingOf(flag)) !== isShown(flag))).toEqual([]);
    for (const flag of flagNames.filter(isShown)) expect(plain).toContain(flagRow(flag).short ?? "");
  },
);

test.each(["bash", "zsh", "fish"])(
  "completion %s offers the values of flags, and calls cody for conversations",
  async (shell) => {
    const cli = await Cli.open();
    const { stdout } = await cli.run(["completion", shell]);
    const values = "responses read-only on-request project updated anthropic markdown claude-code recent-turns gpt-5.4";
    for (const value of `${values} openai-api-key compaction.ratio`.split(" ")) expect(stdout).toContain(value);
    expect(stdout).not.toContain("on-failure");
    expect(stdout.split(helper)).toHaveLength(2);
    expect(await cli.run(["completion", shell])).toMatchObject({ stdout });
  },
);

test("a script is also JSON, and another shell is a usage error", async () => {
  const cli = await Cli.open();
  const { stdout } = await cli.run(["completion", "zsh"]);
  expect(JSON.parse((await cli.run(["completion", "zsh", "--json"])).stdout)).toEqual({ kind: "zsh", text: stdout });
  for (const args of [[], ["tcsh"], ["constructor"]]) {
    expect(await cli.run(["completion", ...args])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("ne of bash, zsh, fish, man"),
    });
  }
});

test("the actions that are offered are those of the command's help text", () => {
  for (const { command, first } of commandArguments()) {
    const [actions = []] = first;
    if (!commandRow(command).usage.includes("[action]") || typeof actions === "string") continue;
    expect({ command, actions }).not.toEqual({ command, actions: [] });
    const description = commandRow(command).description.toLowerCase();
    expect(actions.filter((action) => !description.includes(action))).toEqual([]);
  }
});

/** A saved conversation of which only the texts matter. */
function saved(id: string, texts: { name?: string; title?: string }): SavedConversation {
  return { id, path: "", updatedAt: 0, size: 0, empty: false, damaged: false, ...texts };
}

test("names are printed as they are, and words that would break a line or be a flag are left out", () => {
  const names = ["$(touch x)", "`touch x`", `it's "quoted"`, "a:b=c\\d", "ünï cödé"];
  for (const name of names) expect(wordLines([saved("id", { name })])).toBe(`${name}\t\nid\t${name}\n`);
  const hostile = ["a\nb", "tab\tbed", "\u001b[31mred", "-rf", "--home=/", "\u202etxt"];
  for (const name of hostile) expect(wordLines([saved("id", { name })]).split("\t")[0]).toBe("id");
  expect(wordLines([saved("-id", {}), saved("a\rb", {})])).toBe("");
});

test("a title is one short line", () => {
  expect(wordLines([saved("id", { title: `two\nlines \u001b[31m${"x".repeat(100)}` })])).toMatch(
    /^id\ttwo\\nlines \\033\[31mx{1,60}…\n$/,
  );
});

test("the fast path prints the newest names and ids like the slow one, at most 50", async () => {
  const cli = await Cli.open({ spawned: true });
  expect(await cli.run(["completion", "--conversations"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  await mkdir(cli.conversations, { recursive: true });
  for (let index = 0; index < maxWords + 10; index += 1) {
    const id = `conv_${index}`;
    await writeFile(join(cli.conversations, `${id}.jsonl`), metaLine(id) + user("Grüße"));
  }
  await cli.run(["rename", "conv_58", "$(touch x)"], { spawned: false });
  const slow = await cli.run(["completion", "--conversations"], { spawned: false });
  expect(slow).toMatchObject({ code: 0, stderr: "" });
  expect(slow.stdout.trimEnd().split("\n")).toHaveLength(maxWords);
  expect(slow.stdout).toContain("$(touch x)\tGrüße\nconv_58\t$(touch x)\n");
  await cli.run(["list"]);
  expect(await cli.run(["completion", "--conversations"])).toEqual(slow);
});

test("a configuration that cannot be read offers no conversations, without a message", async () => {
  const cli = await Cli.open({ spawned: true });
  await mkdir(cli.home);
  await writeFile(join(cli.home, "config.json"), '{"persistence": ');
  expect(await cli.run(["completion", "--conversations"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";
import { mockLlm, wireEnv } from "../support/wire-apis.js";

async function withTurns(cli: Cli, texts: readonly string[]): Promise<string> {
  const id = (await cli.run(["new"])).stdout.trim();
  for (const text of texts) await cli.run(["chat", text]);
  return id;
}

test("fork continues in a copy that names its origin and does not change the old file", async () => {
  const cli = await Cli.open();
  const id = await withTurns(cli, ["first", "second", "third"]);
  const file = join(cli.conversations, `${id}.jsonl`);
  const before = await readFile(file, "utf8");
  const { code, stdout } = await cli.run(["fork", id, "--after-turn", "2", "--name", "another way"]);
  const copy = /^✓ Forked conversation: (conv_\S+)\n/.exec(stdout)?.[1] ?? "";
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: [
      `✓ Forked conversation: ${copy}`,
      "  Name: another way",
      `  Forked from: ${id}`,
      "  Provider: offline (offline)",
      '  Continue chatting: cody chat "your message"\n',
    ].join("\n"),
  });
  await cli.run(["chat", "fourth"]);
  expect(await cli.said(copy)).toEqual(["first", "second", "fourth"]);
  expect((await cli.lines(copy))[0]).toMatchObject({ payload: { forked_from_id: id.slice("conv_".length) } });
  expect(await readFile(file, "utf8")).toBe(before);
});

test("fork without an id copies all of the active conversation", async () => {
  const cli = await Cli.open();
  const id = await withTurns(cli, ["first", "second"]);
  const { code, stdout } = await cli.run(["fork", "--json"]);
  const said = JSON.parse(stdout) as { id: string };
  expect({ code, said }).toMatchObject({ code: 0, said: { forkedFrom: id, provider: "offline", model: "offline" } });
  expect(await cli.said(said.id)).toEqual(["first", "second"]);
});

test("fork reports an invalid turn and an unknown turn", async () => {
  const cli = await Cli.open();
  expect(await cli.run(["fork"])).toMatchObject({ code: 1, stderr: expect.stringContaining("No active conversation") });
  const id = await withTurns(cli, ["first"]);
  expect(await cli.run(["fork", id, "--after-turn", "two"])).toMatchObject({
    code: 2,
    stderr: "✗ --after-turn: expected a whole number from 1 to 999999999, not 'two'\n  See: cody fork --help\n",
  });
  expect(await cli.run(["fork", id, "--after-turn", "2"])).toMatchObject({
    code: 1,
    stderr: `✗ ${id} has no turn 2: its last turn is 1\n`,
  });
  expect(await cli.ids()).toEqual([id]);
});

test("fork needs no key, and the copy continues with the recorded provider", async () => {
  const cli = await Cli.open();
  const mock = await mockLlm([{ text: "From afar." }]);
  const env = wireEnv(mock);
  await cli.run(["chat", "--provider", "openai", "--model", "gpt-4o", "hello"], { env });
  const [id = ""] = await cli.ids();
  expect(await cli.run(["fork", id])).toMatchObject({ code: 0, stdout: expect.stringContaining("openai (gpt-4o)") });
  expect(await cli.run(["context", id])).toMatchObject({ code: 0 });
  const copied = await cli.run(["fork", id, "--provider", "offline", "--model", "offline"]);
  expect(copied).toMatchObject({ code: 0, stdout: expect.stringContaining("Provider: offline (offline)") });
  expect(await cli.run(["chat", "what is 2+2?"])).toMatchObject({ code: 0, stdout: expect.stringContaining("4") });
});

test("a fork that cannot be written creates no copy", async () => {
  const cli = await Cli.open();
  const id = await withTurns(cli, ["first"]);
  const file = join(cli.project, "a-file");
  await writeFile(file, "");
  const target = join(cli.conversations, `${id}.jsonl`);
  const { code, stdout, stderr } = await cli.run(["fork", target, "--conversation-dir", join(file, "below")]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("✗ Not forked: ");
});

test("/fork continues in a copy, and /fork with a turn drops the turns after it", async () => {
  const model = scripted([says("One."), says("Two."), says("Three.")]);
  const terminal = await FakeTerminal.open(model);
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("/fork\r");
  await terminal.shows("This conversation has no messages yet.\n");
  terminal.type("first\r");
  await terminal.shows("One.\n");
  terminal.type("second\r");
  await terminal.shows("Two.\n");
  terminal.type("/fork last\r");
  await terminal.tells("✗ Invalid turn number. Usage: /fork [turn], counted from 1\n");
  terminal.type("/fork 7\r");
  await terminal.tells("has no turn 7: its last turn is 2\n");
  terminal.type("/fork 1\r");
  await terminal.shows("Forked conversation: conv_");
  await terminal.shows("Forked from: conv_");
  terminal.type("another way\r");
  await terminal.shows("Three.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
  expect(model.requests.at(-1)?.input).toMatchObject([
    { content: [{ text: "first" }] },
    { content: [{ text: "One." }] },
    { content: [{ text: "another way" }] },
  ]);
});

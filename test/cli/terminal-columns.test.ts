import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { outputTo } from "../../src/cli/terminal/output.js";
import { FakeTerminal } from "../support/cli-terminal.js";
import { says, scripted } from "../support/scripted-provider.js";

test.each([
  [{ isTTY: true, columns: 132 }, {}, 132],
  [{ isTTY: true, columns: 132 }, { COLUMNS: "40" }, 132],
  [{ isTTY: true, columns: 0 }, {}, 80],
  [{ isTTY: true, columns: Number.NaN }, {}, 80],
  [{ isTTY: true, columns: -5 }, {}, 80],
  [{ isTTY: true, columns: Infinity }, {}, 80],
  [{ isTTY: true }, {}, 80],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "120" }, 120],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "0" }, 80],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "-1" }, 80],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "wide" }, 80],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "" }, 80],
  [{}, { COLUMNS: "120" }, undefined],
])("a stream like %j with %j has %s columns", (kind, env, columns) => {
  expect(outputTo(Object.assign(new PassThrough(), kind), env).columns).toBe(columns);
});

const invalidColumns = [0, Number.NaN, -5];

test.each(invalidColumns)("help is readable on a terminal that reports %s columns", async (columns) => {
  const usual = await FakeTerminal.open(scripted([]));
  await usual.run("--help");
  const terminal = await FakeTerminal.open(scripted([]), { columns });
  await terminal.run("--help");
  expect(terminal.screen).toBe(usual.screen);
});

test.each(invalidColumns)("the interactive prompt works on a terminal that reports %s columns", async (columns) => {
  const terminal = await FakeTerminal.open(scripted([says("One."), says("Two.")]), { columns });
  const running = terminal.run();
  await terminal.shows("› ");
  terminal.type("a line that is long enough to be broken into several rows\r");
  await terminal.shows("One.\n");
  terminal.type("/context\r");
  await terminal.shows("Largest items:\n");
  await terminal.shows("› ");
  terminal.type("\u001b[A\u001b[D\u001b[D!\r");
  await terminal.shows("Two.\n");
  terminal.type("/exit\r");
  expect(await running).toBe(0);
});

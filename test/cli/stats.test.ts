import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cli } from "../support/cli.js";
import { assistant, call, context, metaLine, output, tokens, user } from "../rollouts/search/rollout-library.js";

test("stats adds up messages, tokens and cost by model and by project", async () => {
  const cli = await Cli.open();
  mkdirSync(cli.conversations, { recursive: true });
  const saved = {
    // A repeated total counts once, and a smaller one starts a new count.
    conv_a: [
      user("a"),
      assistant("b"),
      tokens(1000, 10),
      tokens(1000, 10),
      context("gpt-5"),
      user("c"),
      tokens(3000, 30),
    ],
    conv_b: [user("d"), call("shell", "{}"), output("e"), tokens(500, 5), tokens(200, 2)],
    conv_c: [],
  };
  for (const [id, lines] of Object.entries(saved)) {
    const meta = id === "conv_b" ? metaLine(id).replace("/project", "/other") : metaLine(id);
    writeFileSync(join(cli.conversations, `${id}.jsonl`), [meta, ...lines].join(""));
  }
  expect((await cli.run(["stats"])).stdout).toBe(`Conversations: 3, 1 of them empty
Turns: 3, answers: 1, tool calls: 1
Tokens: 3.7k in, 37 out
Cost: about $0.0071 (only models with a known price)

Models:
  openai (gpt-5): 1 turn(s), 2k in, 20 out, about $0.0027
  openai (gpt-4o): 2 turn(s), 1.7k in, 17 out, about $0.0044

Projects:
  /project: 2 conversation(s), 2 turn(s), 3k in, 30 out
  /other: 1 conversation(s), 1 turn(s), 700 in, 7 out
`);
  const used = { turns: 3, input: 3700, cached: 0, output: 37, total: 3737 };
  const { total, models } = JSON.parse((await cli.run(["stats", "--json"])).stdout);
  expect(total).toMatchObject({ conversations: 3, empty: 1, answers: 1, toolCalls: 1, ...used });
  // gpt-5: 2,000 tokens in and 20 out; gpt-4o: 1,700 and 17.
  expect(total.cost).toBeCloseTo((2000 * 1.25 + 20 * 10 + 1700 * 2.5 + 17 * 10) / 1e6, 12);
  expect(models).toHaveLength(2);
  expect(JSON.parse((await cli.run(["stats", "--json", "--since", "2999-01-01"])).stdout).total.conversations).toBe(0);
});

test("stats includes the usage of a real conversation", async () => {
  const cli = await Cli.open();
  expect((await cli.run(["stats"])).stdout).toBe(
    "Conversations: 0\nTurns: 0, answers: 0, tool calls: 0\nTokens: 0 in, 0 out\n",
  );
  await cli.run(["chat", "What is 2+2?"]);
  await cli.run(["chat", "And 3+3?"]);
  const { total, models, projects } = JSON.parse((await cli.run(["stats", "--json", "--project"])).stdout);
  expect(total).toMatchObject({ conversations: 1, empty: 0, turns: 2, answers: 2 });
  expect(total.input).toBeGreaterThan(total.output);
  expect(models).toMatchObject([{ provider: "offline", model: "offline", turns: 2, total: total.total }]);
  expect(projects).toMatchObject([{ cwd: cli.project, conversations: 1 }]);
});

import { expect, test } from "vitest";
import type { ResponseItem } from "../../src/messages/response-item.js";
import { recall } from "../../src/tools/recall.js";
import type { EarlierItem } from "../../src/tools/tool.js";
import { assistant, user } from "../support/scripted-provider.js";
import { call, toolContext } from "./tool-context.js";

test("recall finds items by words in any case, ranked by matching words and then by age", async () => {
  const answer = await recalled({ query: "Port database" }, [
    [user("The PORT is 4711."), 1],
    [assistant("The database listens on port 5432."), 2],
    [user("Unrelated"), 3],
    [assistant("I will keep the port."), 4],
  ]);
  expect(answer).toEqual({
    success: true,
    content: [
      "[1] turn 2, assistant:\nThe database listens on port 5432.",
      "[2] turn 4, assistant:\nI will keep the port.",
      "[3] turn 1, user:\nThe PORT is 4711.",
    ].join("\n\n"),
  });
});

test("recall finds calls and outputs and names their tool", async () => {
  const { content } = await recalled({ query: "src/main.ts" }, [
    [{ type: "function_call", name: "read_file", arguments: '{"path":"src/main.ts"}', call_id: "c1" }, 1],
    [{ type: "function_call_output", call_id: "c1", output: "// src/main.ts\n" }, 1],
    [{ type: "function_call_output", call_id: "c2", output: "src/main.ts:1: error" }, 2],
  ]);
  expect(content.split("\n").filter((line) => line.startsWith("["))).toEqual([
    "[1] turn 2, output of a tool:",
    "[2] turn 1, output of read_file:",
    "[3] turn 1, call of read_file:",
  ]);
});

test("recall does not find earlier recall calls and their outputs", async () => {
  const { content } = await recalled({ query: "needle" }, [
    [user("a needle"), 1],
    [{ type: "function_call", name: "recall", arguments: '{"query":"needle"}', call_id: "c1" }, 2],
    [{ type: "function_call_output", call_id: "c1", output: "[1] a needle" }, 2],
  ]);
  expect(content).toBe("[1] turn 1, user:\na needle");
});

test("recall shows excerpts around the words of a long text", async () => {
  const text = `${"a ".repeat(2_000)}the needle is here ${"b ".repeat(2_000)}and a pin ${"c ".repeat(2_000)}`;
  const { content } = await recalled({ query: "needle pin" }, [[user(text), 1]]);
  expect(content).toMatch(/^\[1\] turn 1, user:\n\[…\] a .*the needle is here b .* \[…\] b .*and a pin c .* \[…\]$/);
  expect(content.length).toBeLessThan(650);
});

test("recall keeps excerpts well-formed at the end of a text and next to surrogate pairs", async () => {
  const text = `${"\u{1f30a}".repeat(1_000)}x${"\u{1f30a}".repeat(1_000)}needle`;
  const { content } = await recalled({ query: "needle" }, [[user(text), 1]]);
  expect(content.isWellFormed() && content.endsWith("needle")).toBe(true);
});

test("recall returns up to the limit and the number of items not shown", async () => {
  const items = Array.from({ length: 30 }, (_, index): [ResponseItem, number] => [user(`needle ${index}`), index + 1]);
  const { content } = await recalled({ query: "needle", limit: 2 }, items);
  expect(content).toBe(
    "[1] turn 30, user:\nneedle 29\n\n[2] turn 29, user:\nneedle 28\n\nNot shown: 28 earlier items with some of these words.",
  );
});

test("recall uses the singular for one item not shown", async () => {
  const { content } = await recalled({ query: "needle", limit: 1 }, [
    [user("needle a"), 1],
    [user("needle b"), 2],
  ]);
  expect(content).toMatch(/\n\nNot shown: 1 earlier item with some of these words\.$/);
});

test("recall bounds the size of the output", async () => {
  const items = Array.from({ length: 50 }, (_, index): [ResponseItem, number] => [
    user(`needle ${"x".repeat(100_000)}`),
    index + 1,
  ]);
  const { content } = await recalled({ query: "needle", limit: 20 }, items);
  expect(content.length).toBeLessThan(8_200);
  expect(content).toMatch(/\n\nNot shown: 37 earlier items with some of these words\.$/);
});

test("recall reports no matches, an uncompacted conversation and an empty query", async () => {
  expect(await recalled({ query: "Needle?" }, [[user("hay"), 1]])).toEqual({
    content: "None of the 1 earlier items has any of these words: needle",
    success: true,
  });
  expect(await recalled({ query: "needle" }, [])).toEqual({
    content: "This conversation was not compacted: you can see all of it.",
    success: true,
  });
  expect(await recalled({ query: " ?! " }, [])).toEqual({ content: "The query has no words.", success: false });
});

test("recall reports that an unsaved conversation has nothing to recall", async () => {
  expect(await call(recall, { query: "needle" }, await toolContext())).toEqual({
    content: "This conversation is not saved: the compacted part is gone.",
    success: false,
  });
});

test("recall stops reading when the turn is aborted", async () => {
  const turn = new AbortController();
  async function* earlier(): AsyncGenerator<EarlierItem> {
    for (let index = 1; ; index += 1) {
      if (index === 3) turn.abort();
      yield { item: user("needle"), turn: index };
    }
  }
  const context = await toolContext({ earlier, signal: turn.signal });
  await expect(call(recall, { query: "needle" }, context)).rejects.toThrow("aborted");
});

test.each([{ query: "" }, { query: "x".repeat(501) }, { query: "x", limit: 21 }, { query: "x", limit: 0 }, {}])(
  "recall refuses %j",
  (args) => {
    expect(recall.parameters.safeParse(args).success).toBe(false);
  },
);

async function recalled(args: unknown, items: readonly (readonly [ResponseItem, number])[]) {
  async function* earlier(): AsyncGenerator<EarlierItem> {
    for (const [item, turn] of items) yield { item, turn };
  }
  return await call(recall, args, await toolContext({ earlier }));
}

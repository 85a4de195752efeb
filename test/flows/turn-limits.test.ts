import { expect, test } from "vitest";
import type { Config } from "../../src/messages/settings/config.js";
import { openConversation } from "../support/open-conversation.js";
import { calls, says, scripted, type Reply } from "../support/scripted-provider.js";

/** Each model call of the script uses 10 input and 5 output tokens: 0.1 dollars at these prices. */
const price = { input: 5_000, output: 10_000 };

async function open(turnLimits: Config["turnLimits"], replies: Iterable<Reply>, config: Config = {}) {
  return await openConversation({ provider: scripted(replies), config: { turnLimits, ...config } });
}

function steps(count: number): Reply[] {
  return Array.from({ length: count }, (_, index) =>
    calls("update_plan", `c${index}`, { plan: [{ step: "work", status: "pending" }] }),
  );
}

test("a turn stops at its limit of cost, with an event and an error that say what to change", async () => {
  const models = { scripted: { price } };
  const { conversation, events } = await open({ cost: 0.25 }, [...steps(3), says("done")], { models });
  await conversation.submit("go");
  const reached = await events.until("turn_limit_reached");
  expect(reached).toEqual({
    type: "turn_limit_reached",
    setting: "turnLimits.cost",
    limit: 0.25,
    used: expect.closeTo(0.3),
  });
  const message =
    "the turn was stopped at its limit of $0.25 for model calls; to allow more: cody config set turnLimits.cost <number>";
  expect(await events.until("error")).toEqual({ type: "error", message, codex_error_info: "limit_reached" });
  expect(await events.until("task_complete")).toMatchObject({ cost_usd: expect.closeTo(0.3), error: { message } });
});

test("every turn has the whole limit of cost", async () => {
  const models = { scripted: { price } };
  const { conversation, events } = await open({ cost: 0.15 }, [says("one"), says("two")], { models });
  for (const text of ["one", "two"]) {
    await conversation.submit(text);
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: text });
  }
});

test("without a known price the limit of cost is not enforced, which is said once", async () => {
  const { conversation, events } = await open({ cost: 0.000_001 }, [...steps(1), says("one"), says("two")]);
  for (const text of ["one", "two"]) {
    await conversation.submit(text);
    expect(await events.until("task_complete")).toMatchObject({ last_agent_message: text });
  }
  const warnings = events.seen.flatMap(({ msg }) => (msg.type === "warning" ? [msg.message] : []));
  expect(warnings).toEqual([
    expect.stringMatching(/^The limit turnLimits.cost has no effect: the price of scripted is unknown\. /),
  ]);
});

test("a limit of steps is reported as an event too", async () => {
  const { conversation, events } = await open({ steps: 2 }, steps(2));
  await conversation.submit("go");
  expect(await events.until("turn_limit_reached")).toMatchObject({ setting: "turnLimits.steps", limit: 2, used: 2 });
});

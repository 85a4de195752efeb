import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import type { ManagerOptions } from "../../src/actors/conversation/open/manager-options.js";
import { openConversation } from "../support/open-conversation.js";
import { rolloutLines } from "../support/rollout-lines.js";
import { assistant, says, scripted, user } from "../support/scripted-provider.js";

const words = ["one", "two", "three", "four", "five"];

async function fiveTurns(config: ManagerOptions["config"] = {}) {
  const provider = scripted(words.map((word) => says(`answer ${word}`)));
  const opened = await openConversation({ provider, config });
  for (const word of words) await opened.conversation.processMessage(word);
  return { ...opened, provider };
}

test("with maxSize 3 the fifth request holds three turns; the history and the rollout keep all of them", async () => {
  const { conversation, provider } = await fiveTurns({ history: { maxSize: 3 } });
  expect(provider.requests.at(-1)?.input).toEqual([
    user("three"),
    assistant("answer three"),
    user("four"),
    assistant("answer four"),
    user("five"),
  ]);
  const all = words.flatMap((word) => [user(word), assistant(`answer ${word}`)]);
  expect(conversation.getHistory()).toEqual(all);
  const lines = await rolloutLines(conversation.rolloutPath);
  expect(lines.filter(({ type }) => type === "response_item").map(({ payload }) => payload)).toEqual(all);
});

test("without maxSize the model sees all turns", async () => {
  const { provider } = await fiveTurns();
  expect(provider.requests.at(-1)?.input).toHaveLength(9);
});

test("with saveHistory false nothing is saved", async () => {
  const { conversation, home } = await fiveTurns({ history: { saveHistory: false } });
  expect(conversation.rolloutPath).toBeNull();
  expect(await readdir(home)).toEqual([]);
});

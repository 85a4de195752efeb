import { describe, expect, test } from "vitest";
import type { Config } from "../../src/messages/settings/config.js";
import { mockLlm, wireApis, wireManager } from "../support/wire-apis.js";

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
type Sent = Readonly<Record<(typeof efforts)[number], unknown>>;

const same = (value: unknown): Sent => ({
  none: value,
  minimal: value,
  low: value,
  medium: value,
  high: value,
  xhigh: value,
});
const asSaid: Sent = { none: "none", minimal: "minimal", low: "low", medium: "medium", high: "high", xhigh: "xhigh" };
const threeWords: Sent = { ...asSaid, none: "low", minimal: "low", xhigh: "high" };

const openAiModels: [string, Sent][] = [
  ["o3", threeWords],
  ["o4-mini", threeWords],
  ["gpt-5", { ...asSaid, none: "minimal", xhigh: "high" }],
  ["gpt-5-codex", threeWords],
  ["gpt-5.1", { ...asSaid, minimal: "low", xhigh: "high" }],
  ["gpt-5.2", { ...asSaid, minimal: "low" }],
  ["gpt-5.3-codex", { ...asSaid, none: "low", minimal: "low" }],
  ["gpt-5.5", { ...asSaid, minimal: "low" }],
  ["gpt-4o", same(undefined)],
  ["gpt-4.1-mini", same(undefined)],
  ["gpt-4-turbo", same(undefined)],
  ["some-model", asSaid],
  ["gpt-6", asSaid],
];

const budget = (max_tokens: number, budget_tokens: number) => ({
  max_tokens,
  thinking: { type: "enabled", budget_tokens },
  output_config: undefined,
});
const plain = (max_tokens: number) => ({ max_tokens, thinking: undefined, output_config: undefined });
const adaptive = (max_tokens: number, effort: string) => ({
  max_tokens,
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort },
});
const budgets: Sent = {
  none: plain(16_384),
  minimal: budget(17_408, 1_024),
  low: budget(17_408, 1_024),
  medium: budget(20_480, 4_096),
  high: budget(32_768, 16_384),
  xhigh: budget(49_152, 32_768),
};
const words: Sent = {
  none: plain(16_384),
  minimal: adaptive(17_408, "low"),
  low: adaptive(17_408, "low"),
  medium: adaptive(20_480, "medium"),
  high: adaptive(32_768, "high"),
  xhigh: adaptive(49_152, "xhigh"),
};

const claudes: [string, Sent][] = [
  ["claude-3-5-haiku-20241022", same(plain(8_192))],
  ["claude-3-5-sonnet-20241022", same(plain(8_192))],
  ["claude-opus-4-20250514", { ...budgets, high: budget(32_000, 16_384), xhigh: budget(32_000, 27_904) }],
  ["claude-sonnet-4-5-20250929", budgets],
  ["claude-opus-4-5-20251101", budgets],
  ["claude-opus-4-6", { ...words, xhigh: adaptive(32_768, "high") }],
  ["claude-opus-4-7", words],
  ["claude-sonnet-5", { ...words, none: { ...plain(17_408), output_config: { effort: "low" } } }],
  ["some-model", { ...budgets, xhigh: budget(32_768, 28_672) }],
];

/**
 * Plays one turn for each effort and returns the reasoning fields of its request; the strict server accepts them all.
 */
async function sentFor(
  spoken: (typeof wireApis)[number],
  model: string,
  told: (body: never) => unknown,
  config: Config = {},
) {
  const mock = await mockLlm();
  const { api, provider } = spoken;
  const { manager } = await wireManager(mock, spoken, { config: { ...config, api, provider, model } });
  for (const effort of efforts) {
    const { conversation } = await manager.newConversation({ effort });
    await conversation.processMessage("hello");
  }
  expect(mock.requests.map(({ status }) => status)).toEqual(efforts.map(() => 200));
  const values = mock.requests.map(({ body }) => told(body as never));
  return Object.fromEntries(efforts.map((effort, index) => [effort, values[index]]));
}

const [responses, chat, messages] = wireApis as [(typeof wireApis)[0], (typeof wireApis)[0], (typeof wireApis)[0]];
const overResponses = (body: { reasoning?: { effort?: string } }) => body.reasoning?.effort;
const overChat = (body: { reasoning_effort?: string }) => body.reasoning_effort;
const overMessages = ({ max_tokens, thinking, output_config }: Record<string, unknown>) => ({
  max_tokens,
  thinking,
  output_config,
});

describe("each effort is sent in the form the model accepts", () => {
  test.each(openAiModels)("over responses: %s", async (model, sent) => {
    expect(await sentFor(responses, model, overResponses)).toEqual(sent);
  });
  test.each(openAiModels)("over chat: %s", async (model, sent) => {
    expect(await sentFor(chat, model, overChat)).toEqual(sent);
  });
  test.each(claudes)("over messages: %s", async (model, sent) => {
    expect(await sentFor(messages, model, overMessages)).toEqual(sent);
  });
});

test("the configuration says whether an unknown model reasons and how long its answers may be", async () => {
  const models = { "own-model": { abilities: ["images" as const], maxOutput: 10_000 } };
  expect(await sentFor(responses, "own-model", overResponses, { models })).toEqual(same(undefined));
  expect(await sentFor(chat, "own-model", overChat, { models })).toEqual(same(undefined));
  expect(await sentFor(messages, "own-model", overMessages, { models })).toEqual(same(plain(10_000)));
  const thinking = { "gpt-4-reasons": { abilities: ["reasoning" as const] } };
  expect((await sentFor(responses, "some-model", overResponses, { models: thinking }))["high"]).toBe("high");
});

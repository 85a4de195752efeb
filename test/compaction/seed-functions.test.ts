import { expect, test } from "vitest";
import { buildCompactedHistory } from "../../src/compaction/summary/summary-text.js";
import { collectUserMessages } from "../../src/compaction/item-kinds.js";
import { needsCompaction, shouldCompact, limitOf } from "../../src/compaction/tokens/compaction-threshold.js";
import { agents, assistant, call, environment, ghost, output, pinned, summary, user, words } from "./items.js";

test("collectUserMessages returns the text of user messages, without context, pins, summaries and empty messages", () => {
  const parts = { ...user("a"), content: ["one", "two"].map((text) => ({ type: "input_text" as const, text })) };
  const image = { ...user(""), content: [{ type: "input_image" as const, image_url: "data:x" }] };
  const history = [agents("kind"), environment("/"), parts, image, user(""), assistant("no"), user("three")];
  expect(collectUserMessages([...history, call("1"), output("1"), pinned("p"), summary("s"), ghost("g")])).toEqual([
    "one\ntwo",
    "three",
  ]);
});

test("buildCompactedHistory returns the context, the user messages and the summary", () => {
  expect(buildCompactedHistory([agents("kind")], ["one", "two"], "all is well")).toEqual([
    agents("kind"),
    user("one"),
    user("two"),
    { ...user("Summary of earlier conversation:\n\nall is well"), summary: true },
  ]);
});

test("needsCompaction is true above four fifths of the window", () => {
  expect(needsCompaction([user(words(102_400))], 128_000)).toBe(false);
  expect(needsCompaction([user(words(102_400)), user("x")], 128_000)).toBe(true);
  expect(needsCompaction([user("two words")], 3, (text) => text.split(" ").length)).toBe(false);
  expect(needsCompaction([user("two words")], 2, (text) => text.split(" ").length)).toBe(true);
});

test("shouldCompact is true if less than the reserve is left", () => {
  expect(shouldCompact(183_616, 200_000, 16_384)).toBe(false);
  expect(shouldCompact(183_617, 200_000, 16_384)).toBe(true);
});

test.each([
  ["the ratio", { window: 128_000, assumed: false, settings: { ratio: 0.8 } }, 102_400],
  ["a limit", { window: 128_000, assumed: false, settings: { ratio: 0.8, tokenLimit: 50_000 } }, 50_000],
  [
    "a limit that is too high",
    { window: 128_000, assumed: false, settings: { ratio: 0.8, tokenLimit: 120_000 } },
    102_400,
  ],
  ["a reserve", { window: 128_000, assumed: false, settings: { ratio: 1, reserveTokens: 16_384 } }, 111_616],
  ["at most half of a window", { window: 8_001, assumed: false, settings: { ratio: 1, reserveTokens: 16_384 } }, 4_001],
  ["an unknown window", { window: 200_000, assumed: true, settings: { ratio: 0.8 } }, 100_000],
  ["a small unknown window", { window: 100_000, assumed: true, settings: { ratio: 0.8 } }, 80_000],
] as const)("the trigger limit follows %s", (_, input, limit) => {
  expect(limitOf(input)).toBe(limit);
});

import { expect, test } from "vitest";
import { previewText } from "../../../src/cli/terminal/context-text.js";
import type { CompactionPreview } from "../../../src/messages/compaction.js";

const preview: CompactionPreview = {
  strategy: "codex",
  tokensBefore: 142_000,
  tokensAfter: 21_400,
  window: 200_000,
  limit: 160_000,
  kept: [
    { kind: "context", tokens: 400, text: "<environment_context>" },
    { kind: "user", tokens: 12_000, text: "first" },
    { kind: "user", tokens: 9_000, text: "second" },
    { kind: "summary", tokens: 8, text: "Summary of earlier conversation:" },
  ],
  dropped: [
    { kind: "tool_output", tokens: 100_000, text: "total 42" },
    { kind: "assistant", tokens: 600, text: "Done." },
  ],
};

test("kept and dropped items are counted by kind", () => {
  expect(previewText(preview)).toEqual([
    "Strategy: codex",
    "Tokens: 142k → 21k plus the summary",
    "Window: 200k tokens, compacts above 160k",
    "Kept:",
    "  context            1     400 tokens",
    "  summary            1       8 tokens",
    "  user               2     21k tokens",
    "Dropped:",
    "  assistant          1     600 tokens",
    "  tool outputs       1    100k tokens",
    "Nothing was changed.",
  ]);
});

test("a preview that drops nothing says so", () => {
  expect(previewText({ ...preview, dropped: [] }).slice(-2)).toEqual(["Dropped: nothing", "Nothing was changed."]);
});

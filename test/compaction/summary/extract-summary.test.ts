import { expect, test } from "vitest";
import { estimateTokens } from "../../../src/compaction/tokens/estimate-tokens.js";
import { extractSummary } from "../../../src/compaction/summary/extract-summary.js";
import { assistant, call, environment, output, user, words } from "../items.js";

const history = [
  environment("/"),
  user("Build a parser.\nIn TypeScript."),
  assistant("I looked around. We decided to use a Pratt parser. It is small."),
  call("1", "shell", { command: "npm test" }),
  output("1"),
  user("Add numbers"),
  call("2", "read_file", { path: "src/parser.ts" }),
  assistant("Reading the parser now."),
];

test("the extracted summary is built from messages, below a placeholder line", () => {
  expect(extractSummary(history)).toBe(
    [
      "(summary unavailable)",
      "## Goal\n- Build a parser. In TypeScript.",
      "## Latest Requests\n- Add numbers",
      "## Key Decisions\n- We decided to use a Pratt parser.",
      '## Open Tool Calls\n- read_file {"path":"src/parser.ts"}',
      "## Last Words\n- Reading the parser now.",
    ].join("\n\n"),
  );
});

test("an earlier summary comes first, without its own placeholder", () => {
  expect(extractSummary([user("Go on")], "(no summary available)\n\n## Goal\n- Build a parser.")).toBe(
    "(summary unavailable)\n\n## Goal\n- Build a parser.\n\n## Latest Requests\n- Go on",
  );
});

test("a history without messages gives only the placeholder", () => {
  expect(extractSummary([])).toBe("(summary unavailable)");
  expect(extractSummary([], "(summary unavailable)")).toBe("(summary unavailable)");
});

test("the extracted summary is short for any history", () => {
  const long = Array.from({ length: 500 }, (_, index) => [
    user(words(2_000)),
    assistant(`We chose ${words(500)}. ${index}`),
  ]);
  expect(estimateTokens(extractSummary(long.flat(), words(50_000)))).toBeLessThanOrEqual(1_000);
  expect(estimateTokens(extractSummary(long.flat(), words(50_000)))).toBeGreaterThan(500);
});

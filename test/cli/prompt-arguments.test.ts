import { expect, test } from "vitest";
import { parsePromptArguments, promptUsage } from "../../src/cli/terminal/prompt/server-prompts.js";

const known = [
  { name: "who", isRequired: true },
  { name: "how", isRequired: false },
];

test.each([
  ["who=Ann", { who: "Ann" }],
  ["who=\"Ann Lee\" how='very kindly'", { who: "Ann Lee", how: "very kindly" }],
  ['how="say \\"hi\\" \\\\o/" who=Ann', { how: 'say "hi" \\o/', who: "Ann" }],
  ['who=""', { who: "" }],
  ["Ann Lee", { who: "Ann Lee" }],
  ['"Ann Lee"', { who: "Ann Lee" }],
  ['"Ann Lee" "very kindly"', { who: "Ann Lee", how: "very kindly" }],
  ["how=kindly Ann Lee", { who: "Ann Lee", how: "kindly" }],
  ["who=Ann very kindly", { who: "Ann", how: "very kindly" }],
  ["Ann's house", { who: "Ann's house" }],
  ["x=1 + y=2", { who: "x=1 + y=2" }],
  ['"Ann" and "Bob"', { who: '"Ann" and "Bob"' }],
])("%s is parsed as %j", (text, values) => {
  expect(parsePromptArguments(text, known)).toEqual({ values, missing: [], excess: "" });
});

test("required arguments that are absent are missing, and unused text is excess", () => {
  expect(parsePromptArguments("", known)).toEqual({ values: {}, missing: ["who"], excess: "" });
  expect(parsePromptArguments("how=kindly", known)).toMatchObject({ missing: ["who"] });
  expect(parsePromptArguments("who=Ann how=kindly now", known)).toMatchObject({ missing: [], excess: "now" });
  expect(parsePromptArguments("now", [])).toEqual({ values: {}, missing: [], excess: "now" });
});

test("a prompt shows its usage", () => {
  expect(promptUsage("mcp__one__greet", known)).toBe('/mcp__one__greet who="…" [how="…"]');
});

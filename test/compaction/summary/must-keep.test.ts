import { expect, test } from "vitest";
import { missingFrom, mustKeep, repairedSummary } from "../../../src/compaction/summary/must-keep.js";
import { assistant, call, environment, user } from "../items.js";

const plan = {
  plan: [
    { step: "write lexer", status: "completed" },
    { step: "write parser", status: "in_progress" },
  ],
};
const planLines = "- [completed] write lexer\n- [in_progress] write parser";

test("the user's rules are kept verbatim", () => {
  const items = [
    environment("You must not see this."),
    user("Fix the tests. Never touch src/generated! Should we only use tabs?"),
    assistant("I must think."),
    user("- Always run `npm test` first\n- Prefer small commits"),
    user("Never touch src/generated!"),
  ];
  expect(mustKeep(items)).toEqual({
    rules: ["Never touch src/generated!", "Always run `npm test` first", "Prefer small commits"],
    plan: undefined,
  });
});

test("the number and the length of rules are bounded", () => {
  const many = Array.from({ length: 50 }, (_, index) => user(`Never do number ${index}.`));
  expect(mustKeep([...many, user(`Never ${"x".repeat(400)}.`)]).rules).toEqual(
    Array.from({ length: 20 }, (_, index) => `Never do number ${index + 30}.`),
  );
});

test("the last plan is kept", () => {
  expect(mustKeep([call("1", "update_plan", { plan: [] }), call("2", "update_plan", plan)]).plan).toBe(planLines);
  expect(mustKeep([call("1", "update_plan", "just do it")]).plan).toBe('"just do it"');
});

test("rules and plan of an earlier summary are kept", () => {
  const earlier = "## Goal\nx\n\n## Constraints\n- Never touch src/generated!\n\n## Current Plan\n- [pending] rest";
  expect(mustKeep([user("Never sleep.")], earlier)).toEqual({
    rules: ["Never touch src/generated!", "Never sleep."],
    plan: "- [pending] rest",
  });
});

test("only facts that a summary does not paraphrase are missing", () => {
  const keep = { rules: ["Never touch src/generated!", "Always run `npm test` first"], plan: planLines };
  const summary =
    "The user wants `npm test` to run always and first. The lexer was written, the parser is next to write.";
  expect(missingFrom(summary, keep)).toEqual({ rules: ["Never touch src/generated!"], plan: undefined });
  expect(missingFrom("", keep)).toEqual(keep);
});

test("a repaired summary contains each fact once, under existing or new headings", () => {
  const missing = { rules: ["Never touch src/generated!"], plan: planLines };
  const repaired = repairedSummary("## Goal\nx\n", missing);
  expect(repaired).toBe(`## Goal\nx\n\n## Constraints\n- Never touch src/generated!\n\n## Current Plan\n${planLines}`);
  expect(missingFrom(repaired, missing)).toEqual({ rules: [], plan: undefined });
  expect(repairedSummary(repaired, { rules: ["Be kind only."], plan: undefined })).toBe(
    repaired.replace("## Constraints\n", "## Constraints\n- Be kind only.\n"),
  );
  expect(repairedSummary("## Goal\nx\n", { rules: [], plan: undefined })).toBe("## Goal\nx\n");
});

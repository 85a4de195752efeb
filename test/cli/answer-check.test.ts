import { expect, test } from "vitest";
import { answerCheck } from "../../src/cli/headless/answer-schema.js";

const point = {
  type: "object",
  properties: { x: { type: "number", minimum: 1 } },
  required: ["x"],
  additionalProperties: false,
};
const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: {
    kind: { enum: ["a", 1] },
    always: { const: true },
    "x/y": { type: "array", items: { $ref: "#/$defs/point" } },
    when: { type: "string", format: "date" },
  },
  required: ["kind", "always", "x/y", "when"],
  additionalProperties: false,
  $defs: { point },
};

test("each problem is reported with its JSON path, and format keywords are ignored", async () => {
  const problemsOf = await answerCheck(schema);
  const right = { kind: 1, always: true, "x/y": [{ x: 1 }], when: "tomorrow" };
  expect(problemsOf(JSON.stringify(right))).toEqual([]);
  expect(problemsOf(JSON.stringify({ ...right, kind: "b", always: false, "x/y": [{ x: 1 }, { x: 0 }] }))).toEqual([
    'kind: must be one of "a", 1',
    "always: must be true",
    "x/y.1.x: must be >= 1",
  ]);
  expect(problemsOf("null")).toEqual(["must be object"]);
  expect(problemsOf(null)).toEqual(["there is no answer"]);
});

test("only the first problems are reported, shortened and without control characters", async () => {
  const problemsOf = await answerCheck(schema);
  const extra = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`\u0007${index}${"x".repeat(999)}`, 1]));
  const problems = problemsOf(JSON.stringify({ kind: 1, always: true, "x/y": [], when: "", ...extra }));
  expect(problems).toHaveLength(11);
  expect(problems.at(-1)).toBe("… and 10 more");
  expect(problems.every((text) => text.length <= 301 && !text.includes("\u0007"))).toBe(true);
});

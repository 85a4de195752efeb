import * as fc from "fast-check";
import { expect, test } from "vitest";
import { calculate, expressionIn } from "../../../src/providers/offline/reply.js";

test.each([
  ["What's 2+2?", "2+2"],
  ["what is 12 * (3 + 4)?", "12 * (3 + 4)"],
  ["Tell me, how much is 7 × 6 =?", "7 × 6"],
  ["1 - 2", "1 - 2"],
  ["What is 42?", undefined],
  ["Call me on 2-3 days", undefined],
])("the expression in %j is %j", (sentence, expression) => {
  expect(expressionIn(sentence)).toBe(expression);
});

test.each([
  ["2+2", "2+2 = 4"],
  ["12 * (3 + 4)", "12 * (3 + 4) = 84"],
  ["2 - 3 - 4", "2 - 3 - 4 = -5"],
  ["-(2 + 3) * -2", "-(2 + 3) * -2 = 10"],
  ["0.1 + 0.2", "0.1 + 0.2 = 0.3"],
  ["7 % 4 + 9 ÷ 3", "7 % 4 + 9 ÷ 3 = 6"],
  ["1 / (2 - 2)", "1 / (2 - 2) has no answer: nothing can be divided by zero."],
  ["2 +", undefined],
  ["(1 + 2", undefined],
  ["1 2", undefined],
])("%s is answered with %j", (expression, answer) => {
  expect(calculate(expression)).toBe(answer);
});

test("sums and products are calculated as JavaScript does", () => {
  const { tree } = fc.letrec<{ tree: { text: string; value: number } }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      fc.integer({ min: 0, max: 99 }).map((value) => ({ text: String(value), value })),
      fc.tuple(tie("tree"), fc.constantFrom("+", "-", "*"), tie("tree")).map(([left, operator, right]) => ({
        text: `(${left.text} ${operator} ${right.text})`,
        value:
          operator === "+"
            ? left.value + right.value
            : operator === "-"
              ? left.value - right.value
              : left.value * right.value,
      })),
    ),
  }));
  fc.assert(
    fc.property(tree, ({ text, value }) => {
      expect(calculate(text)).toBe(`${text} = ${Number(value.toPrecision(12))}`);
    }),
  );
});

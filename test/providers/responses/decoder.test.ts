import * as fc from "fast-check";
import { expect, test } from "vitest";
import { withoutEcho } from "../../../src/providers/responses/decoder.js";

const json = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown);
const name = fc.oneof(fc.constantFrom("instructions", "tools", "output", "usage", 'a"b', "\\"), fc.string());
const response = fc.dictionary(name, json).map((members) => ({ type: "response.completed", response: members, n: 1 }));

test("withoutEcho removes only the instructions and tools that a response repeats", () => {
  fc.assert(
    fc.property(response, fc.constantFrom("", " ", "\n"), (event, indent) => {
      const { instructions: _instructions, tools: _tools, ...rest } = event.response;
      expect(JSON.parse(withoutEcho(JSON.stringify(event, undefined, indent)))).toEqual(
        JSON.parse(JSON.stringify({ ...event, response: rest })),
      );
    }),
    { numRuns: 1_000 },
  );
});

test("withoutEcho keeps fields of these names elsewhere", () => {
  const event = { tools: [1], response: { output: [{ tools: 2, instructions: "x" }], text: '"tools":[]' } };
  expect(withoutEcho(JSON.stringify(event))).toBe(JSON.stringify(event));
});

test("withoutEcho does not throw on invalid JSON", () => {
  for (const text of [
    "",
    '"',
    "{",
    '{"response":{"tools":',
    '{"response":{"tools":["\\"',
    '{"response":{"tools":]}}',
    "}}}",
  ]) {
    expect(typeof withoutEcho(text)).toBe("string");
  }
});

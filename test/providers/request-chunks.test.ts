import * as fc from "fast-check";
import { expect, test } from "vitest";
import { requestChunks } from "../../src/providers/request-chunks.js";

test("the chunks are the JSON of the request, also when its start was seen before", () => {
  const tool = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as object);
  const body = fc.record(
    {
      model: fc.string({ unit: "binary" }),
      instructions: fc.option(fc.string({ unit: "binary" })),
      tools: fc.array(tool),
      stream: fc.constant(true),
    },
    { requiredKeys: ["model"] },
  );
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 20 }), (requests) => {
      for (const request of [...requests, ...requests]) {
        const text = Buffer.concat(requestChunks(request)).toString();
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(request)));
      }
    }),
    { numRuns: 20 },
  );
});

test("requests with the same instructions and tools share the bytes of their start", () => {
  const instructions = "Be brief.";
  const tools = [{ name: "shell" }, { name: "look" }];
  const requests = [
    { instructions, tools, input: ["a"] },
    { instructions, tools: [...tools], input: ["b"] },
    { instructions, tools: tools.slice(1), input: ["b"] },
  ];
  const [first, second, other] = requests.map((request) => requestChunks(request)[0]);
  expect(second).toBe(first);
  expect(other).not.toBe(first);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { requestText } from "../../src/providers/wire-answer.js";

test("requestText is the JSON of the request, also when its tools were seen before", () => {
  const tool = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as object);
  const body = fc.record(
    { model: fc.string(), tools: fc.array(tool), stream: fc.constant(true) },
    { requiredKeys: ["model"] },
  );
  fc.assert(
    fc.property(body, (request) => {
      for (const _ of [1, 2]) expect(JSON.parse(requestText(request))).toEqual(JSON.parse(JSON.stringify(request)));
    }),
  );
});

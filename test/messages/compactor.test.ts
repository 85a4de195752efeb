import * as fc from "fast-check";
import { expect, test } from "vitest";
import { check } from "../../src/base/parse.js";
import { CompactorEvent, CompactorOp, compactorAnswers } from "../../src/messages/actors/compactor.js";
import { arbitraryOf } from "../support/arbitrary-of.js";

const messages = [
  ...CompactorOp.options.map((schema) => [`op ${schema.shape.type.value}`, schema] as const),
  ...CompactorEvent.options.map((schema) => [`event ${schema.shape.type.value}`, schema] as const),
  ...Object.entries(compactorAnswers).map(([type, schema]) => [`answer to ${type}`, schema] as const),
];

test.each(messages)("the %s survives structuredClone and JSON", (name, schema) => {
  fc.assert(
    fc.property(arbitraryOf(schema), (value) => {
      expect(structuredClone(value)).toEqual(value);
      const text = JSON.stringify(value);
      const read: unknown = check(schema, JSON.parse(text), name);
      expect(JSON.stringify(read)).toBe(text);
    }),
    { numRuns: 50 },
  );
});

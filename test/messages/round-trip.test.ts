import * as fc from "fast-check";
import type * as z from "zod";
import { expect, test } from "vitest";
import { Config } from "../../src/messages/settings/config.js";
import { Event, EventMsg } from "../../src/messages/event.js";
import { Failure } from "../../src/messages/failure.js";
import { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import { check } from "../../src/base/parse.js";
import { ResponseItem } from "../../src/messages/response-item.js";
import { RolloutLine } from "../../src/messages/rollout-line.js";
import { Op, Submission } from "../../src/messages/submission.js";
import { arbitraryOf } from "../support/arbitrary-of.js";

/** The schemas of the public protocol and of files; `actor-messages.test.ts` has those of the actors. */
const schemas = {
  Config,
  Event,
  EventMsg,
  Failure,
  ModelEvent,
  ModelRequest,
  Op,
  ResponseItem,
  RolloutLine,
  Submission,
} satisfies Record<string, z.ZodType>;

for (const [name, schema] of Object.entries(schemas)) {
  test(`every ${name} survives a port and JSON unchanged`, () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        expect(structuredClone(value)).toEqual(value);
        const text = JSON.stringify(value);
        const read: unknown = check(schema as z.ZodType, JSON.parse(text), name);
        expect(JSON.stringify(read)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
}

import * as z from "zod";
import { expect, test } from "vitest";
import { Event } from "../../src/messages/event.js";
import { ResponseItem } from "../../src/messages/response-item.js";
import { RolloutLine } from "../../src/messages/rollout-line.js";
import { Submission } from "../../src/messages/submission.js";

// After a protocol change, run: npm run docs
test("the published JSON Schema of the protocol matches the sources", async () => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ Event, ResponseItem, RolloutLine, Submission }))
    registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    unrepresentable: "any",
    io: "input",
    uri: (id) => `#/$defs/${id}`,
  });
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The public protocol of cody: submissions, events, history items and rollout lines",
    $defs: Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutDocumentKeys(schema)])),
  };
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../../docs/protocol.schema.json");
});

/** Removes the keys that the whole document has once. */
function withoutDocumentKeys(schema: z.core.JSONSchema.BaseSchema): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id"));
}

import { expect, test } from "vitest";
import { ToolList } from "../../../src/actors/mcp/listed-tools.js";

/** The parameters schema of a server's tool as it is sent to the model. */
function sentSchema(inputSchema: object): unknown {
  const list = new ToolList({});
  list.add([{ name: "look", inputSchema }]);
  return list.listed.tools[0]?.inputSchema;
}

test("an array schema without items gets an empty items schema, because OpenAI refuses all tools otherwise", () => {
  const anything = { type: "array", items: {} };
  const schema = {
    type: "object",
    properties: {
      names: { type: "array" },
      rows: { type: "array", items: { type: "array" } },
      pair: { type: "array", items: [{ type: "string" }], maxItems: 2 },
      either: { anyOf: [{ type: ["array", "null"] }, { type: "string" }] },
      nested: { type: "object", additionalProperties: { type: "array" } },
      type: { enum: ["array"], default: { type: "array" } },
    },
    $defs: { list: { type: "array" } },
  };
  expect(sentSchema(schema)).toEqual({
    type: "object",
    properties: {
      names: anything,
      rows: { type: "array", items: anything },
      pair: { ...anything, maxItems: 2 },
      either: { anyOf: [{ type: ["array", "null"], items: {} }, { type: "string" }] },
      nested: { type: "object", additionalProperties: anything },
      type: { enum: ["array"], default: { type: "array" } },
    },
    $defs: { list: anything },
  });
});

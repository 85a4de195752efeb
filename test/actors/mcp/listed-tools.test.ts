import { expect, test } from "vitest";
import { ToolList } from "../../../src/actors/mcp/listed-tools.js";

/** What a model is told of the arguments of a server's tool. */
function told(inputSchema: object): unknown {
  const list = new ToolList({});
  list.add([{ name: "look", inputSchema }]);
  return list.listed.tools[0]?.inputSchema;
}

test("an array that does not say what is in it holds anything: OpenAI refuses it, and every tool beside it", () => {
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
  expect(told(schema)).toEqual({
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

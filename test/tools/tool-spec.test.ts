import { expect, test } from "vitest";
import { ToolSpec } from "../../src/messages/tools/tool.js";
import { builtInTools } from "../../src/tools/toolbox.js";
import { toolSpec } from "../../src/tools/define-tool.js";

const specs = builtInTools().map(toolSpec);

test("the built-in tools declare whether they are read-only", () => {
  expect(builtInTools().map(({ name, readOnly }) => [name, readOnly])).toEqual([
    ["shell", false],
    ["read_file", true],
    ["list_files", true],
    ["search_files", true],
    ["view_image", true],
    ["write_file", false],
    ["apply_patch", false],
    ["update_plan", true],
    ["recall", true],
    ["add_knowledge", false],
  ]);
});

test.each(specs)("$name has a strict JSON Schema", (spec) => {
  expect(ToolSpec.parse(spec)).toEqual(spec);
  expect(spec.parameters).toMatchObject({ type: "object", additionalProperties: false });
  expect(spec.parameters).not.toHaveProperty("$schema");
});

test("add_knowledge requires type and content, and confidence has a default", () => {
  const spec = specs.find(({ name }) => name === "add_knowledge");
  expect(spec?.parameters).toMatchObject({
    required: ["type", "content"],
    properties: {
      type: { enum: ["pattern", "decision", "discovery", "preference", "correction"] },
      content: { type: "string", minLength: 1, maxLength: 4_000 },
      confidence: { type: "number", minimum: 0, maximum: 1, default: 0.8 },
      tags: { type: "array" },
      supersedes: { type: "string" },
    },
  });
});

test("the schema of shell has the names and bounds of its arguments", () => {
  expect(specs[0]?.parameters).toMatchObject({
    required: ["command"],
    properties: {
      command: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] },
      workdir: { type: "string" },
      timeout_ms: { type: "integer", minimum: 1, maximum: 600_000 },
    },
  });
});

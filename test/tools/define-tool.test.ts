import { expect, test } from "vitest";
import * as z from "zod";
import { InvalidInputError } from "../../src/base/errors.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { call, toolContext } from "./tool-context.js";

const parameters = z.strictObject({ text: z.string() });
const base = { name: "echo", description: "Says it again", parameters };
const scope = { cwd: "/projects", sandbox: "workspace-write", privatePaths: [] } as const;

test("a returned text becomes a successful output", async () => {
  const tool = defineTool({ ...base, run: ({ text }) => text });
  expect(await call(tool, { text: "hello" }, await toolContext())).toEqual({ content: "hello", success: true });
});

test("a returned output is passed on unchanged", async () => {
  const output = { content: "no", success: false };
  const tool = defineTool({ ...base, run: () => Promise.resolve(output) });
  expect(await call(tool, { text: "" }, await toolContext())).toBe(output);
});

test("a synchronous throw in run becomes a rejection", async () => {
  const tool = defineTool({
    ...base,
    run: () => {
      throw new Error("a bug");
    },
  });
  await expect(call(tool, { text: "" }, await toolContext())).rejects.toThrow("a bug");
});

test("by default a tool is not read-only, and its command is its name and arguments", async () => {
  const tool = defineTool({ ...base, run: () => "" });
  expect(tool.readOnly).toBe(false);
  expect(await tool.command({ text: "a" }, scope)).toEqual({ argv: ["echo", '{"text":"a"}'], cwd: "/projects" });
});

test("a tool can define its own command and be read-only", async () => {
  const tool = defineTool({
    ...base,
    readOnly: true,
    command: ({ text }, { cwd }) => ({ argv: ["echo", text], cwd: `${cwd}/in` }),
    run: () => "",
  });
  expect(tool.readOnly).toBe(true);
  expect(await tool.command({ text: "a" }, scope)).toEqual({ argv: ["echo", "a"], cwd: "/projects/in" });
});

test.each(["", "two words", "a.b", "x".repeat(65)])("%j is rejected as a tool name", (name) => {
  expect(() => defineTool({ ...base, name, run: () => "" })).toThrow(InvalidInputError);
});

test.each([
  ["a text", z.string()],
  ["a list", z.array(z.string())],
  ["one of two objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
  ["anything", z.unknown()],
  ["no schema", { type: "object" }],
])("parameters that are %s are rejected", (_name, schema) => {
  const definition = { ...base, parameters: schema as unknown as typeof parameters, run: () => "" };
  expect(() => defineTool(definition)).toThrow(
    new InvalidInputError("tool echo: parameters must be an object schema of zod 4, such as z.object({ … })"),
  );
});

test.each([
  ["a record", z.record(z.string(), z.string())],
  ["a transformed object", z.object({ text: z.string() }).transform(({ text }) => ({ text: text.trim() }))],
  ["an object without properties", z.strictObject({})],
])("parameters that are %s are accepted", (_name, schema) => {
  expect(defineTool({ ...base, parameters: schema as z.ZodType<Record<string, unknown>>, run: () => "" }).name).toBe(
    "echo",
  );
});

test("the compiler rejects parameters that are not an object", () => {
  // @ts-expect-error -- a text has no named arguments
  expect(() => defineTool({ ...base, parameters: z.string(), run: () => "" })).toThrow(InvalidInputError);
  // @ts-expect-error -- a list has no named arguments
  expect(() => defineTool({ ...base, parameters: z.array(z.string()), run: () => "" })).toThrow(InvalidInputError);
});

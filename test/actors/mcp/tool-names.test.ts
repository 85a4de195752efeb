import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toolName } from "../../../src/actors/mcp/listed-tools.js";

test("a valid tool name is kept", () => {
  expect(toolName("git", "list-files", new Set())).toBe("mcp__git__list-files");
});

test("any names become unique names that every API accepts", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 300 }), { maxLength: 20 }), (tools) => {
      const taken = new Set<string>();
      for (const tool of tools) {
        const name = toolName("server", tool, taken);
        expect(name).toMatch(/^mcp__server__[A-Za-z0-9_-]{1,51}$/);
        expect(taken.has(name)).toBe(false);
        taken.add(name);
      }
    }),
  );
});

test("a tool gets the same name in another process", () => {
  expect(toolName("a", "with blanks", new Set())).toBe(toolName("a", "with blanks", new Set()));
  expect(toolName("a", "with blanks", new Set())).not.toBe(toolName("a", "with_blanks", new Set()));
});

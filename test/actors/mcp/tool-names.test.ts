import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toolName } from "../../../src/actors/mcp/listed-tools.js";

test("a name that fits is kept", () => {
  expect(toolName("git", "list-files", new Set())).toBe("mcp__git__list-files");
});

test("names every API takes come of any names, and no two are alike", () => {
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

test("the same tool has the same name in another process", () => {
  expect(toolName("a", "with blanks", new Set())).toBe(toolName("a", "with blanks", new Set()));
  expect(toolName("a", "with blanks", new Set())).not.toBe(toolName("a", "with_blanks", new Set()));
});

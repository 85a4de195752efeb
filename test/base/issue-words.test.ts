import { expect, test } from "vitest";
import * as z from "zod";
import { issueWords } from "../../src/base/issue-words.js";

const either = z.discriminatedUnion("type", [
  z.object({ type: z.literal("a") }),
  z.object({ type: z.literal("b"), n: z.number() }),
]);

test.each<[string, z.ZodType, unknown]>([
  ["must be a text", z.string(), 1],
  ["is missing", z.string(), undefined],
  ["must be a whole number", z.int(), 1.5],
  ["must be true or false", z.boolean(), "yes"],
  ["must be a list", z.array(z.string()), {}],
  ["must be an object", z.record(z.string(), z.string()), 1],
  ["must be of type date", z.date(), 1],
  ['must be "a"', z.literal("a"), "b"],
  ['must be one of "a", "b"', z.enum(["a", "b"]), "c"],
  ["must be at least 1", z.number().min(1), 0],
  ["must be more than 0", z.number().positive(), 0],
  ["must be at most 9", z.number().max(9), 10],
  ["must be less than 9", z.number().lt(9), 9],
  ["must be a multiple of 5", z.number().multipleOf(5), 7],
  ["must not be empty", z.string().min(1), ""],
  ["must have at least 2 characters", z.string().min(2), "a"],
  ["must have at most 1 character", z.string().max(1), "ab"],
  ["must have exactly 2 entries", z.array(z.string()).length(2), []],
  ["must have at most 3 entries", z.array(z.number()).max(3), [1, 2, 3, 4]],
  ["must be a URL", z.url(), "x"],
  ["must be a UUID", z.uuid(), "x"],
  ["must be a valid ipv4", z.ipv4(), "x"],
  ["must match /^a+$/", z.string().regex(/^a+$/), "b"],
  ['must begin with "a"', z.string().startsWith("a"), "b"],
  ['must end with "a"', z.string().endsWith("a"), "b"],
  ['must contain "a"', z.string().includes("a"), "b"],
  ['unknown key "x"', z.strictObject({}), { x: 1 }],
  ['unknown keys "x", "y"', z.strictObject({}), { x: 1, y: 2 }],
  ["has a key that cannot be used: must have at most 1 character", z.record(z.string().max(1), z.number()), { ab: 1 }],
  ["has an entry that cannot be used: must be a text", z.map(z.object({}), z.string()), new Map([[{}, 1]])],
  ["must be a text or a list", z.union([z.string(), z.array(z.string())]), 1],
  ["0: must be a text", z.union([z.string(), z.array(z.string())]), [1]],
  ["must be a text, or must be 5", z.union([z.string(), z.literal(5)]), 1],
  ['must be one of "a", "b"', either, { type: "c" }],
  ["is missing", z.union([z.string(), z.null()]), undefined],
  ["cannot be used", z.custom(() => false), 1],
])("%s", (words, schema, value) => {
  expect(schema.safeParse(value, { error: issueWords }).error?.issues[0]?.message).toBe(words);
});

test("a schema's own error message is kept", () => {
  const schema = z.string("say a name");
  expect(schema.safeParse(1, { error: issueWords }).error?.issues[0]?.message).toBe("say a name");
});

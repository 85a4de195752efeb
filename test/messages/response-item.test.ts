import { expect, test } from "vitest";
import { check } from "../../src/base/parse.js";
import { ResponseItem } from "../../src/messages/response-item.js";

test("an item of an unknown type is kept with every key", () => {
  const item = { type: "hologram", depth: 3, nested: { a: [1, 2] } };
  expect(check(ResponseItem, item, "item")).toBe(item);
});

test("unknown keys stay on a known item", () => {
  const item = { type: "message", role: "user", content: [], phase: "final_answer" };
  expect(check(ResponseItem, item, "item")).toEqual(item);
});

test("an invalid item of a known type is refused and not treated as an unknown type", () => {
  expect(() => check(ResponseItem, { type: "message", role: "user" }, "item")).toThrow("item: ");
  expect(() =>
    check(ResponseItem, { type: "message", role: "user", content: [{ type: "text", text: "x" }] }, "item"),
  ).toThrow("item: ");
});

import { expect, test } from "vitest";
import { check } from "../../src/base/parse.js";
import { ResponseItem } from "../../src/messages/response-item.js";

test("an item of a type nobody knows yet is kept with every key", () => {
  const item = { type: "hologram", depth: 3, nested: { a: [1, 2] } };
  expect(check(ResponseItem, item, "item")).toBe(item);
});

test("keys we do not know stay on an item we know", () => {
  const item = { type: "message", role: "user", content: [], phase: "final_answer" };
  expect(check(ResponseItem, item, "item")).toEqual(item);
});

test("a known type in the wrong shape is refused, not taken for an unknown type", () => {
  expect(() => check(ResponseItem, { type: "message", role: "user" }, "item")).toThrow("item: ");
  expect(() =>
    check(ResponseItem, { type: "message", role: "user", content: [{ type: "text", text: "x" }] }, "item"),
  ).toThrow("item: ");
});

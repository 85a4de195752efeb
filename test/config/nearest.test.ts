import { expect, test } from "vitest";
import { nearest } from "../../src/config/nearest.js";

const known = ["approvalPolicy", "baseUrl", "model", "models", "persistence.enabled", "sandbox"];

test.each([
  ["approval_policy", "approvalPolicy"],
  ["BASEURL", "baseUrl"],
  ["modle", "model"],
  ["modells", "models"],
  ["sandbx", "sandbox"],
  ["persistence.enabld", "persistence.enabled"],
  ["colour", undefined],
  ["x", undefined],
  ["", undefined],
  ["y".repeat(100_000), undefined],
])("%j is taken for %j", (text, meant) => {
  expect(nearest(text, known)).toBe(meant);
});

import { expect, test } from "vitest";
import { Failure } from "../../src/messages/failure.js";
import { check, jsonValue } from "../../src/base/parse.js";

test("invalid JSON is reported without its text, which may hold a secret", () => {
  expect(() => jsonValue('{"key": sk-secret}', "config")).toThrow(/^config: invalid JSON( at position 8)?$/);
});

test("invalid JSON is reported with the position the parser knows", () => {
  expect(() => jsonValue('{"a": 1,}', "config")).toThrow(/^config: invalid JSON at position 8$/);
});

test("an invalid value is reported by its path and never by its content", () => {
  const value = { code: "auth", message: 42_424_242, retryable: true };
  let message = "";
  try {
    check(Failure, value, "answer");
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain("answer: message: ");
  expect(message).not.toContain("42424242");
});

import { describe, expect, test } from "vitest";
import { AnswerError, failureText } from "../../../src/providers/failures/answer-error.js";
import { retryAfterMs, errorIn, serverFailure, wireFailure } from "../../../src/providers/failures/wire-failure.js";
import { FailureError } from "../../../src/messages/failure-error.js";

const apiKey = "sk-test-0123456789";
const context = { provider: "acme", apiKey };

function answered(status: number, body: object | string, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return wireFailure(new AnswerError(status, text, headers["retry-after"]), context);
}

test.each([
  [429, "rate_limit", true],
  [408, "timeout", true],
  [409, "overloaded", true],
  [500, "server", true],
  [502, "server", true],
  [503, "overloaded", true],
  [504, "server", true],
  [529, "overloaded", true],
  [400, "invalid_request", false],
  [404, "invalid_request", false],
  [422, "invalid_request", false],
  [401, "auth", false],
  [403, "auth", false],
])("HTTP status %i is the failure %s", (status, code, retryable) => {
  const verb = status === 401 ? "rejected the API key or login (401)" : `answered ${status}`;
  const message = `acme ${verb}: no luck`;
  expect(answered(status, { error: { message: "no luck" } })).toEqual({ code, message, retryable });
});

test.each([
  { error: { message: "This model's maximum context length is 128000 tokens." } },
  { error: { code: "context_length_exceeded", message: "Your input is too long." } },
  { error: { message: "too many tokens" } },
  { error: { message: "The input exceeds the model's window." } },
  { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 210000 > 200000" } },
])("a 400 about the context window is a context_overflow: %j", (body) => {
  expect(answered(400, body)).toMatchObject({ code: "context_overflow", retryable: false });
});

test("a 400 of a content filter is content_filtered", () => {
  expect(answered(400, { error: { code: "content_filter", message: "no" } })).toMatchObject({
    code: "content_filtered",
  });
});

test("tokens per minute are a rate limit, and an exhausted quota is not retryable", () => {
  expect(answered(429, { error: { message: "too many tokens per minute" } })).toMatchObject({ code: "rate_limit" });
  expect(answered(429, { error: { code: "insufficient_quota", message: "pay first" } })).toEqual({
    code: "rate_limit",
    message: "acme answered 429: pay first",
    retryable: false,
  });
});

test("retry-after may be seconds, a date or invalid, and is capped", () => {
  const now = Date.parse("2026-11-20T10:00:00Z");
  expect(retryAfterMs("7", now)).toBe(7_000);
  expect(retryAfterMs("0.25", now)).toBe(250);
  expect(retryAfterMs("Fri, 20 Nov 2026 10:00:09 GMT", now)).toBe(9_000);
  expect(retryAfterMs("Fri, 20 Nov 2020 10:00:09 GMT", now)).toBe(0);
  expect(retryAfterMs("99999999999", now)).toBe(300_000);
  expect(retryAfterMs("Infinity", now)).toBe(300_000);
  expect(retryAfterMs("-1", now)).toBe(0);
  expect(retryAfterMs("soon", now)).toBeUndefined();
  expect(retryAfterMs(null, now)).toBeUndefined();
  expect(answered(429, { error: {} }, { "retry-after": "7" })).toMatchObject({ retryAfterMs: 7_000 });
});

test("an HTML page and an empty body add no text to the status", () => {
  expect(answered(502, "<html><body>Bad gateway</body></html>").message).toBe("acme answered 502");
  expect(answered(502, "").message).toBe("acme answered 502");
});

test("the failure text is one short line without any part of the key", () => {
  const echoed = answered(401, { error: { message: `Incorrect API key provided: ${apiKey}.\nsecond line` } });
  expect(echoed.message).toBe("acme rejected the API key or login (401): Incorrect API key provided: [key].");
  const text = failureText("x".repeat(290) + apiKey.repeat(2), { apiKey });
  expect(text.length).toBeLessThanOrEqual(300);
  expect(text).not.toContain("sk-");
  expect(failureText("\n\u001b[31mred\u0007", { apiKey: undefined })).toBe("[31mred");
});

const redact = (text: string): string => text.replaceAll("hunter2", "***");

test("other secrets are redacted before the text is truncated", () => {
  const error = { message: `${"x".repeat(296)}hunter2` };
  expect(serverFailure(error, { ...context, redact }).message).toBe(`acme: ${"x".repeat(296)}***`);
});

test.each([
  [{ error: { message: "a", type: "t", code: "c" } }, { message: "a", type: "t", code: "c" }],
  [{ error: "model not found" }, { message: "model not found" }],
  [
    { object: "error", message: "b", code: 400 },
    { message: "b", status: 400 },
  ],
  [{ detail: "c" }, { message: "c" }],
  [null, {}],
])("an error is read from a body of the shape %j", (body, error) => {
  expect(JSON.parse(JSON.stringify(errorIn(body)))).toEqual(error);
});

test.each([
  [{ type: "overloaded_error" }, "overloaded", true],
  [{ code: "server_error" }, "server", true],
  [{ code: "rate_limit_exceeded" }, "rate_limit", true],
  [{ type: "invalid_request_error" }, "invalid_request", false],
  [{ type: "authentication_error" }, "auth", false],
  [{ code: "content_policy_violation" }, "content_filtered", false],
  [{ code: "context_length_exceeded" }, "context_overflow", false],
])("an error inside a stream is classified by its type or code: %j", (error, code, retryable) => {
  expect(serverFailure(error, context)).toMatchObject({ code, retryable });
});

const thrown = (code: string, fields: object = {}) =>
  new Error("fetch failed", { cause: Object.assign(new Error("x"), { code, ...fields }) });

describe("network errors", () => {
  test.each([
    [
      "network",
      thrown("ECONNREFUSED", { address: "127.0.0.1", port: 1 }),
      "acme: cannot connect to 127.0.0.1:1 (ECONNREFUSED)",
    ],
    [
      "network",
      thrown("ENOTFOUND", { hostname: "nowhere.test" }),
      "acme: cannot resolve the host name of nowhere.test (ENOTFOUND)",
    ],
    ["network", thrown("ECONNRESET"), "acme: the connection was lost (ECONNRESET)"],
    ["timeout", thrown("UND_ERR_CONNECT_TIMEOUT"), "acme: the server did not answer in time (UND_ERR_CONNECT_TIMEOUT)"],
  ])("%s is retryable: %s", (code, error, message) => {
    expect(wireFailure(error, context)).toEqual({ code, message, retryable: true });
  });

  test("a self-signed certificate is not retryable", () => {
    expect(wireFailure(thrown("DEPTH_ZERO_SELF_SIGNED_CERT"), context)).toMatchObject({
      code: "network",
      retryable: false,
    });
  });

  test("a FailureError in the cause is passed on with the key hidden", () => {
    const failure = { code: "invalid_request", message: `not with ${apiKey}`, retryable: false } as const;
    const error = new Error("fetch failed", { cause: new FailureError(failure) });
    expect(wireFailure(error, context)).toEqual({ ...failure, message: "acme: not with [key]" });
  });
});

test("any other error is an unknown failure with the key hidden", () => {
  expect(wireFailure(new TypeError(`no ${apiKey}`), context)).toEqual({
    code: "unknown",
    message: "acme: no [key]",
    retryable: false,
  });
});

test("a word of megabytes in an error is redacted in linear time", () => {
  expect(failureText(`x${"a".repeat(4_000_000)} sk-ab***yz`, { apiKey })).toMatch(/^xa+…$/);
  expect(failureText("wrong key: sk-ab***yz", { apiKey })).toBe("wrong key: [key]");
});

test.each(["sk-...6789", "sk-…6789", "xxxx-xxxx-6789", "ending in 6789", 'key="sk-***6789"', "sk-test...456789."])(
  "a key is hidden however a server masks it: %s",
  (masked) => {
    const long = "sk-test-0123456789-0123456789";
    expect(failureText(`Received API Key = ${masked}`, { apiKey: long })).not.toContain("6789");
  },
);

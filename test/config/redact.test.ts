import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, secretsOf } from "../../src/config/secrets/redact.js";

const secret = "pa/ss+w0rd &more";
const redact = createRedactor([secret, "short"]);
const shapes = createRedactor([]);

describe("known secrets", () => {
  test.each([
    [`before ${secret} after ${secret}`, "before [redacted] after [redacted]"],
    [encodeURIComponent(secret), "[redacted]"],
    [`q=${encodeURIComponent(secret).replaceAll("%20", "+")}`, "q=[redacted]"],
    ["a short one stays", "a short one stays"],
  ])("%j becomes %j", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test("a secret in base64 is found at any offset of the encoded text", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, unit: "binary" }), fc.string(), fc.string(), (value, before, after) => {
        for (const encoding of ["base64", "base64url"] as const) {
          const encoded = Buffer.from(before + value.toWellFormed() + after).toString(encoding);
          expect(createRedactor([value.toWellFormed()])(encoded)).toContain("[redacted]");
        }
      }),
    );
  });

  test("the longer of two overlapping secrets is redacted first, so that no part of it remains", () => {
    expect(createRedactor(["secret1", "secret1-and-more"])("secret1-and-more")).toBe("[redacted]");
  });

  test("a secret is matched as text, not as a pattern", () => {
    expect(createRedactor(["a.*b$&c"])("a.*b$&c aXXb")).toBe("[redacted] aXXb");
  });
});

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";

test.each([
  ["key sk-abcdefghijkl1234 used", "key [redacted] used"],
  ["sk-ant-api03-abc_DEF-123", "[redacted]"],
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
  [`token is ${jwt}.`, "token is [redacted]."],
  ["Authorization: Basic dXNlcjpwYXNz\nHost: x", "Authorization: [redacted]\nHost: x"],
  ['{"authorization":"Bearer abcdefgh","b":1}', '{"authorization":[redacted],"b":1}'],
  ["Set-Cookie: session=abc; Path=/", "Set-Cookie: [redacted]"],
  ['cookie: a="b"; c=d', "cookie: [redacted]"],
  ["curl -H 'x-api-key: abc'", "curl -H 'x-api-key: [redacted]"],
  ["password=hunter2&user=alice", "password=[redacted]&user=alice"],
  ["OPENAI_API_KEY=abc123 node x", "OPENAI_API_KEY=[redacted] node x"],
  ['api_key: "a b c", x', "api_key: [redacted], x"],
  ["got Bearer abc.def-ghi back", "got Bearer [redacted] back"],
  ["https://alice:hunter2@example.com/", "https://alice:[redacted]@example.com/"],
  ["task-management, risk-averse, max_tokens: 5", "task-management, risk-averse, max_tokens: 5"],
  ["Unexpected token: } at 1:2", "Unexpected token: } at 1:2"],
])("%j becomes %j", (text, expected) => {
  expect(shapes(text)).toBe(expected);
});

test.each([
  "a",
  "sk-",
  "eyJ",
  "eyJaaaaa.",
  "-",
  " ",
  "password",
  "password=",
  "password ",
  "authorization:",
  'cookie:"',
  "://",
  "://a:",
  ":",
  "bearer ",
  "ghp_",
  "\\",
])("a megabyte of %j is processed in time", (text) => {
  const long = text.repeat(1_000_000 / text.length);
  const output = createRedactor(["a".repeat(64), "secret"])(long);
  expect(typeof output).toBe("string");
});

test("the values of variables with secret-like names are secrets", () => {
  const env = {
    OPENAI_API_KEY: "1",
    GH_TOKEN: "2",
    my_secret: "3",
    DB_PASSWORD: "4",
    PATH: "5",
    TOKENS: "6",
    X_TOKEN: "",
    AWS_SECRET_ACCESS_KEY: "7",
    PGPASSWORD: "8",
    PWD: "9",
    DATABASE_URL: "postgres://app:p%40ss@db/x",
    HTTP_PROXY: "http://proxy.example:8080",
  };
  expect(secretsOf(env)).toEqual(["1", "2", "3", "4", "7", "8", "p%40ss", "p@ss"]);
});

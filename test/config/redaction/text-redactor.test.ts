import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SecretKind } from "../../../src/base/text/redaction.js";
import { redactorOf } from "../../support/redaction.js";

const key = 'pa/ss+w0rd"& more';

function redacted(text: string, rules: Parameters<typeof redactorOf>[0] = {}): string {
  return redactorOf(rules).redact(text, () => undefined);
}

describe("known secrets", () => {
  const rules = { secrets: [key], names: [] };
  test.each([
    ["a plain secret is redacted", key],
    ["an escaped secret is redacted", JSON.stringify(key).slice(1, -1)],
    ["a secret escaped twice is redacted", JSON.stringify(JSON.stringify(key).slice(1, -1)).slice(1, -1)],
    ["a URL-encoded secret is redacted", encodeURIComponent(key)],
    [
      "a URL-encoded secret with lower-case digits is redacted",
      encodeURIComponent(key).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ["a base64 secret is redacted", Buffer.from(key).toString("base64url")],
    ["a hexadecimal secret is redacted", Buffer.from(key).toString("hex")],
    ["a secret with escaped slashes is redacted", key.replaceAll("/", "\\/")],
  ])("%s", (_, form) => {
    expect(redacted(`before ${form} after`, rules)).toMatch(/^before \[redacted\]\S{0,3} after$/);
  });

  test("a key of several lines is found line by line", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
    const pem = `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`;
    expect(redacted(`1: ${line}`, { secrets: [pem] })).toBe("1: [redacted]");
  });

  test("text of the mask itself is not a secret", () => {
    expect(redacted("it was redacted", { secrets: ["redacted"] })).toBe("it was redacted");
  });
});

describe("values after secret names", () => {
  test.each([
    ["api_key=XYZ", "api_key=[redacted]"],
    ["api_key=XYZ, and more", "api_key=[redacted], and more"],
    ["(api_key=XYZ)", "(api_key=[redacted])"],
    ["PASSWORD=my-0ld-password", "PASSWORD=[redacted]"],
    ['{"password": "password123"}', '{"password": "[redacted]"}'],
    ["my api_key = XYZ1234 is here", "my api_key = [redacted] is here"],
    ["OPENAI_API_KEY=abc node x", "OPENAI_API_KEY=[redacted] node x"],
    ["export DB_PASSWORD='it is me'", "export DB_PASSWORD='[redacted]'"],
    ['{"apiKey": "a\\"b", "x": 1}', '{"apiKey": "[redacted]", "x": 1}'],
    ['{\\"password\\": \\"a\\\\\\"b\\", \\"x\\": 1}', '{\\"password\\": \\"[redacted]\\", \\"x\\": 1}'],
    ["password: hunter2", "password: [redacted]"],
    ["password: correcthorse", "password: [redacted]"],
    ['client.secret = "s3cr3t";', 'client.secret = "[redacted]";'],
    ['env["API_KEY"] = "abc"', 'env["API_KEY"] = "[redacted]"'],
    ["https://x.example/?api_key=abc&user=bob", "https://x.example/?api_key=[redacted]&user=bob"],
    ["curl -H 'Authorization: Bearer abc.def-123'", "curl -H 'Authorization: Bearer [redacted]'"],
    ["Authorization: Basic dXNlcjpwYXNz\nHost: x", "Authorization: Basic [redacted]\nHost: x"],
    ['curl -H "X-Api-Key: abcdefghij" x', 'curl -H "X-Api-Key: [redacted]" x'],
    ["X-Api-Key: 0a1b2c", "X-Api-Key: [redacted]"],
    ['"token": "abcdef123456"', '"token": "[redacted]"'],
    ["password=a[redacted]b", "password=[redacted]"],
    [
      "PRIVATE_KEY=-----BEGIN RSA PRIVATE KEY-----\nabc\nd+e\n-----END RSA PRIVATE KEY-----\nHOME=/root",
      "PRIVATE_KEY=[redacted]\nHOME=/root",
    ],
    ["private_key: -----BEGIN X-----\\nabc\\n-----END X-----\\n", "private_key: [redacted]\\n"],
    ["PRIVATE_KEY=-----BEGIN X-----\nno end of it", "PRIVATE_KEY=[redacted] X-----\nno end of it"],
    ["PRIVATE_KEY='-----BEGIN X-----\nabc\n-----END X-----'", "PRIVATE_KEY='[redacted]'"],
  ])("%j becomes %j", (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  test.each([
    "password: string;",
    "const password = await readPassword();",
    "secret: z.string().min(1),",
    "token === other",
    "(token) => token.value",
    "const token = tokens[0];",
    "token: SyntaxKind.Identifier,",
    'case "token": return next;',
    "max_tokens: 4096",
    "token_count=12345678",
    "apiKey: process.env.OPENAI_API_KEY",
    'api_key = os.environ["API_KEY"]',
    "f(password=password, secret=None)",
    'password: "Enter your password"',
    "password: userPassword",
    "f(password=pw, secret=mySecret)",
    "token = token2",
    "Authorization: Bearer $TOKEN",
    'header = "Authorization: Bearer ${token}"',
    "api_key=<your key>",
    "secret: /run/secrets/db",
    "api_key=[redacted]",
    'password: "[redacted]"',
    "Unexpected token: } at 1:2",
    "secrets are kept elsewhere: see the docs",
  ])("%j is unchanged", (text) => {
    expect(redacted(text)).toBe(text);
  });

  test("the secret names can be replaced or disabled", () => {
    expect(redacted("pin=1234567 password=abc", { names: ["pin"] })).toBe("pin=[redacted] password=abc");
    expect(redacted("password=abc", { names: [] })).toBe("password=abc");
  });
});

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl";
const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";

test.each([
  ["sk-proj-abcdefghijkl1234", "[redacted]"],
  ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
  ["AKIAIOSFODNN7EXAMPLE", "[redacted]"],
  [jwt, "[redacted]"],
  [pem, "[redacted]"],
  ["postgres://app:hunter2@db:5432/x", "postgres://app:[redacted]@db:5432/x"],
])("%j is recognized by its shape when shapes are enabled", (text, expected) => {
  expect(redacted(`see ${text}`, { shapes: true })).toBe(`see ${expected}`);
  expect(redacted(`see ${text}`, { shapes: false })).toBe(`see ${text}`);
});

test("text that only starts like a key is unchanged", () => {
  const text = "task-management sk-learn risk-averse sk-some-long-name-of-a-class https://example.com:8080/a@b";
  expect(redacted(text, { shapes: true })).toBe(text);
});

const pieces = fc.constantFrom(
  ..."password api_key token = : \" ' \\ ` hunter2 [redacted] sk- abcdef0123456789 :// @ x eyJ ] , )".split(" "),
  " ",
  "\n",
  "Bearer ",
  "-----BEGIN PRIVATE KEY-----",
  key,
);
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const fullRedactor = redactorOf({ secrets: [key, "another-secret-1"], shapes: true });

const secretsInValues: [string, string][] = [
  ["password://password:-----BEGIN PRIVATE KEY-----", "password:[redacted] PRIVATE KEY-----"],
  ['password: "Enter password=hunter"', 'password: "[redacted]"'],
  ['password="a password=`b\nc1`"', 'password="[redacted]"'],
  ["password://sk-abcdef0123456789", "password:[redacted]"],
  ["Authorization: $eyJ-abcdefghij.eyJ-abcdefghij.", "Authorization: [redacted]"],
  ["a://token:hunter22,and-more@host", "a://token:[redacted]"],
  ["a://password=x/y1;user:hunter2@host", "a://password=[redacted];user:[redacted]@host"],
];

test.each(secretsInValues)("%j has a secret inside a match and becomes %j in one pass", (text, expected) => {
  const kinds: SecretKind[] = [];
  expect(fullRedactor.redact(text, () => undefined)).toBe(expected);
  expect(fullRedactor.redact(expected, (kind) => kinds.push(kind))).toBe(expected);
  expect(kinds).toEqual([]);
});

test("a secret inside a match is reported once", () => {
  const reports: string[] = [];
  fullRedactor.redact("password://password:-----BEGIN", (kind, value) => reports.push(`${kind} ${value}`));
  expect(reports).toEqual(["named -----BEGIN"]);
});

test("deeply nested secret names are redacted as a whole", () => {
  const wrapped = `so: ${"password://".repeat(10_000)}password=hunter2`;
  expect(fullRedactor.redact(wrapped, () => undefined).slice(0, 100)).toBe("[redacted]");
});

test("redacting twice changes nothing", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const once = fullRedactor.redact(text, () => undefined);
      const kinds: SecretKind[] = [];
      expect(fullRedactor.redact(once, (kind) => kinds.push(kind))).toBe(once);
      expect(kinds).toEqual([]);
    }),
    { numRuns: 2_000, examples: secretsInValues.map(([text]): [string] => [text]) },
  );
});

test("the quick check misses no secret, however often the text was escaped", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 2 }), (text, depth) => {
      let found = 0;
      fullRedactor.redact(text, () => (found += 1));
      let json: string = JSON.stringify(text);
      for (let level = 0; level < depth; level += 1) json = JSON.stringify(json);
      expect(found === 0 || fullRedactor.suspects(json)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  "password=",
  'password="',
  "password: ",
  "token\\",
  "eyJ",
  "://a:",
  "bearer ",
  "-----BEGIN PRIVATE KEY-----",
  `password=${"a.".repeat(250)}- `,
  "password=-----BEGIN X-----",
])("a megabyte of %j is processed in time", (text) => {
  expect(typeof fullRedactor.redact(text.repeat(1_000_000 / text.length), () => undefined)).toBe("string");
});

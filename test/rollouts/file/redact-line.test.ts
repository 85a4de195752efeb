import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ResponseItem } from "../../../src/messages/response-item.js";
import { type OwnLine, RolloutLine } from "../../../src/messages/rollout-line.js";
import { encodeLine, lineEncoder, redactLine } from "../../../src/rollouts/file/encode.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";
import { redactorOf } from "../../support/redaction.js";

const secret = 'S3cr3t/with "quotes"';
const encode = lineEncoder(redactorOf({ secrets: [secret] }));

function itemLine(payload: ResponseItem): OwnLine {
  return { timestamp: "2026-11-16T00:00:00.000Z", type: "response_item", payload };
}

function written(line: OwnLine): OwnLine & { redacted?: number } {
  return JSON.parse(encode(line).text) as OwnLine & { redacted?: number };
}

function call(args: string): OwnLine {
  return itemLine({ type: "function_call", name: "shell", arguments: args, call_id: "call_1" });
}

function argumentsOf(line: OwnLine): string {
  const { payload } = written(line);
  return "arguments" in payload ? String(payload.arguments) : "";
}

test("a line without secrets is unchanged, byte for byte", () => {
  const line = itemLine({ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] });
  expect(encode(line)).toEqual({ text: encodeLine(line), secrets: new Set() });
});

test("a redacted line has the number of removed secrets, each counted once", () => {
  const text = `use ${secret}, I said ${secret}, and password=hunter2`;
  const line = itemLine({ type: "message", role: "user", content: [{ type: "input_text", text }] });
  expect(written(line)).toEqual({
    ...itemLine({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "use [redacted], I said [redacted], and password=[redacted]" }],
    }),
    redacted: 2,
  });
  expect(encode(line).secrets).toEqual(new Set([secret, "hunter2"]));
});

describe("redacted call arguments stay valid JSON", () => {
  test.each([
    [JSON.stringify({ command: `echo ${secret}` }), '{"command":"echo [redacted]"}'],
    [JSON.stringify({ command: ["curl", `-H x-api-key:${secret}`] }), '{"command":["curl","-H x-api-key:[redacted]"]}'],
    ['{"api_key": "abc", "id": 12345678901234567890}', '{"api_key": "[redacted]", "id": 12345678901234567890}'],
    ['{"auth":{"apiKey":"a\\u0062c"}}', '{"auth":{"apiKey":"[redacted]"}}'],
    [String.raw`{"command":"x \u0053\u0033cr3t\/with \"quotes\""}`, '{"command":"x [redacted]"}'],
    [JSON.stringify({ body: JSON.stringify({ password: 'a"b' }) }), '{"body":"{\\"password\\":\\"[redacted]\\"}"}'],
    ["not JSON: password=abc", "not JSON: password=[redacted]"],
  ])("%s", (before, after) => {
    expect(argumentsOf(call(before))).toBe(after);
  });
});

describe("signed and structural values stay unchanged", () => {
  test("signed thinking and its signature", () => {
    const content = [{ type: "reasoning_text" as const, text: `the key is ${secret}` }];
    const summary = [{ type: "summary_text" as const, text: `it uses ${secret}` }];
    const line = itemLine({ type: "reasoning", summary, content, encrypted_content: secret });
    expect(written(line).payload).toEqual({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "it uses [redacted]" }],
      content,
      encrypted_content: secret,
    });
    const open = itemLine({ type: "reasoning", summary: [], content });
    expect(encode(open).text).not.toContain("S3cr3t");
  });

  test("ids and tool names", () => {
    const line = itemLine({ type: "function_call", name: secret, arguments: "{}", call_id: secret });
    expect(encode(line).text).toBe(encodeLine(line));
  });

  test("signed thinking in another format", () => {
    const content = [{ type: "thinking", thinking: `the key is ${secret}`, thinkingSignature: "abc" }];
    const line = { type: "message", id: "1", message: { role: "assistant", content } } as unknown as OwnLine;
    expect(redactLine(line, redactorOf({ secrets: [secret] }), () => undefined)).toBe(line);
  });

  test("an image, but not a text that starts like one", () => {
    const text = itemLine({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: `data:image/${secret}` }],
    });
    expect(encode(text).text).not.toContain("S3cr3t");
    const image_url = `data:image/png;base64,${Buffer.from(secret).toString("base64")}`;
    const line = itemLine({ type: "message", role: "user", content: [{ type: "input_image", image_url }] });
    expect(encode(line).text).toBe(encodeLine(line));
  });
});

/** Appends a secret to every string except enum values such as type and role. */
function planted(value: unknown, key = ""): unknown {
  if (typeof value === "string") return /type|role|status|reason|decision/.test(key) ? value : `${value} ${secret}`;
  if (Array.isArray(value)) return value.map((item) => planted(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, planted(inner, name)]));
}

/** Every string of a line that is neither signed nor structural. */
function openTexts(value: unknown, key = ""): string[] {
  if (typeof value === "string")
    return /^(?:.*_?id|encrypted_content|timestamp|name|sha256|detail|originator|cli_version|history_mode)$/.test(key)
      ? []
      : [value];
  if (Array.isArray(value)) return value.flatMap((item) => openTexts(item, key));
  if (typeof value !== "object" || value === null) return [];
  const isSigned =
    "type" in value &&
    value.type === "reasoning" &&
    "encrypted_content" in value &&
    typeof value.encrypted_content === "string";
  return Object.entries(value).flatMap(([name, inner]) =>
    isSigned && name === "content" ? [] : openTexts(inner, name),
  );
}

/** The values that redaction must not change. */
function sealedTexts(value: unknown, key = ""): string[] {
  if (typeof value === "string")
    return /^(?:type|id|call_id|turn_id|encrypted_content|timestamp|role|status)$/.test(key) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => sealedTexts(item, key));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => sealedTexts(inner, name));
}

test("redacted lines of every kind contain no known secret, are valid JSON and keep signed values", () => {
  fc.assert(
    fc.property(arbitraryOf(RolloutLine), (value) => {
      const line = planted(value) as OwnLine;
      const after = JSON.parse(encode(line).text) as OwnLine;
      expect(openTexts(after).filter((text) => text.includes("S3cr3t"))).toEqual([]);
      const { timestamp, type, payload } = line;
      expect(sealedTexts({ timestamp, type, payload: after.payload })).toEqual(
        sealedTexts({ timestamp, type, payload }),
      );
      expect(encode(after).secrets).toEqual(new Set());
      expect(JSON.parse(encode(after).text)).toEqual({
        timestamp,
        type,
        ...("metadata" in after ? { metadata: after.metadata } : {}),
        payload: after.payload,
      });
    }),
    { numRuns: 500 },
  );
});

test("a history item without secrets is encoded unchanged", () => {
  fc.assert(
    fc.property(arbitraryOf(ResponseItem), (value) => {
      const line = itemLine(value as ResponseItem);
      const { text, secrets } = encode(line);
      expect(secrets.size > 0 || text === encodeLine(line)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

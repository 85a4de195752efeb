import { expect, test } from "vitest";
import { callResult, promptText, resultOutput, toldResult } from "../../../src/actors/mcp/call-output.js";

function outputOf(answer: unknown) {
  const result = callResult(answer);
  return result === undefined ? undefined : resultOutput(result);
}

test("texts are told, and of everything else what it is", () => {
  const content = [
    { type: "text", text: "one" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
    { type: "resource_link", uri: "x://1", name: "a file" },
    { type: "resource", resource: { uri: "x://2", text: "inside" } },
    { type: "resource", resource: { uri: "x://3", mimeType: "a/b", blob: "AAAA" } },
    { type: "hologram" },
  ];
  expect(outputOf({ content, structuredContent: { said: "one" } })).toEqual({
    success: true,
    content: [
      "one",
      "[image image/png, 3 bytes, not shown]",
      "[resource x://1: a file]",
      "[resource x://2]\ninside",
      "[resource x://3, a/b, 3 bytes, not shown]",
      "[hologram, not shown]",
    ].join("\n"),
  });
});

test("what has no text has its values, and what has nothing says so", () => {
  expect(outputOf({ structuredContent: { degrees: 21 } })?.content).toBe('{"degrees":21}');
  expect(outputOf({ content: [], isError: true })).toEqual({ content: "(no output)", success: false });
  expect(outputOf({ content: "text" })).toBeUndefined();
});

test("very much is cut, for the model and more for an event", () => {
  const text = "x".repeat(3_000_000);
  const result = callResult({
    content: [
      { type: "text", text },
      { type: "text", text },
    ],
  });
  if (result === undefined) throw new Error("no result");
  expect(resultOutput(result).content).toMatch(/x…\n\[\d+ characters left out\]$/);
  expect(JSON.stringify(toldResult(result)).length).toBeLessThan(40_000);
  const many = callResult({ content: Array.from({ length: 5_000 }, () => ({ type: "text", text: "x" })) });
  expect(many === undefined ? "" : resultOutput(many).content).toContain("[4000 more parts left out]");
});

test("what is too deep to be written is said to be", () => {
  const depth = 100_000;
  const deep: unknown = JSON.parse("[".repeat(depth) + "]".repeat(depth));
  expect(outputOf({ content: [], structuredContent: deep })?.content).toBe("[too deep to be shown]");
});

test("a prompt is the text of its messages", () => {
  const content = { type: "text", text: "Hello" };
  expect(promptText({ messages: [{ role: "user", content }, { role: "assistant", content: 7 }, null] })).toBe(
    "Hello\n\n\n\n",
  );
  expect(promptText(undefined)).toBe("");
});

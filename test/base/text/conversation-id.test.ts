import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bareId, isConversationId, shownId } from "../../../src/base/text/conversation-id.js";

const uuid = "0192aaaa-bbbb-7ccc-8ddd-eeeeffff0001";

test("shownId adds the conv_ prefix to a UUID, and bareId removes it", () => {
  expect(shownId(uuid)).toBe(`conv_${uuid}`);
  expect(bareId(`conv_${uuid}`)).toBe(uuid);
  expect(shownId("my-own-id")).toBe("my-own-id");
  expect(bareId("conv_nothing")).toBe("conv_nothing");
});

test("a text that could leave a directory is not a conversation id", () => {
  for (const text of [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "a.jsonl",
    "-rf",
    "_x",
    "a\0",
    "a\n",
    "é",
    "x".repeat(129),
  ]) {
    expect([text, isConversationId(text)]).toEqual([text, false]);
  }
});

test("a conversation id has no character with a meaning in paths", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(isConversationId(text) && /[/\\.\0]/.test(text)).toBe(false);
    }),
  );
});

import { expect, test } from "vitest";
import { contextKind, isContextMessage, isRealUserMessage } from "../../../src/base/codex/context-message.js";

test.each([
  "# AGENTS.md instructions for /tmp/proj\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
  "  <environment_context>\n<cwd>/</cwd>\n</environment_context>\n",
  "<TURN_ABORTED>stopped</Turn_Aborted>",
  '<codex_internal_context source="goal">\ngo on\n</codex_internal_context>',
  "<goal_context>go on</goal_context>",
  "<external_browser_tab>page</external_browser_tab>",
  "Warning: The maximum number of unified exec processes you can keep open is 60.",
  "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
])("a context message is recognised: %s", (text) => {
  expect(isContextMessage(userMessage(text))).toBe(true);
  expect(isRealUserMessage(userMessage(text))).toBe(false);
});

test.each([
  "hello",
  "",
  "<environment_context> is a strange tag",
  "what is </turn_aborted>",
  "<external_a>page</external_b>",
  "<external_",
  "Warning: apply_patch was requested via exec_command",
])("a user's own text is not a context message: %s", (text) => {
  expect(isContextMessage(userMessage(text))).toBe(false);
  expect(isRealUserMessage(userMessage(text))).toBe(true);
});

test("a message with one context part is not a real user message", () => {
  const parts = ["hello", "<skill>x</skill>"].map((text) => ({ type: "input_text", text }));
  expect(isRealUserMessage({ type: "message", role: "user", content: parts })).toBe(false);
});

test("contextKind names the tags of the context parts", () => {
  expect(contextKind(userMessage(" <Environment_Context>/</environment_context>"))).toBe("<environment_context>");
  expect(contextKind(userMessage("<external_tab>page</external_tab>"))).toBe("<external_tab>");
  expect(contextKind(userMessage("hello"))).toBeUndefined();
  expect(contextKind({ ...userMessage("<skill>x</skill>"), role: "assistant" })).toBeUndefined();
  const parts = ["<skill>x</skill>", "hello", "<turn_aborted></turn_aborted>"].map((text) => ({ text }));
  expect(contextKind({ type: "message", role: "user", content: parts })).toBe("<skill> <turn_aborted>");
});

function userMessage(text: string) {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

import { expect, test } from "vitest";
import { isMessageComplete } from "../../src/rollouts/history-messages.js";

test.each([
  [{ role: "user" }, true],
  [{ role: "assistant" }, true],
  [{ role: "assistant", thinking: true }, false],
  [{ role: "assistant", thinking: true, isThinkingComplete: true }, true],
  [{ role: "tool", toolName: "shell", toolArgs: {} }, false],
  [{ role: "tool", toolName: "shell", toolArgs: {}, toolResult: "" }, true],
  [{ role: "tool", toolArgs: {}, toolResult: "x" }, false],
  [{ role: "status" }, false],
])("isMessageComplete of %j is %s", (message, complete) => {
  expect(isMessageComplete(message)).toBe(complete);
});

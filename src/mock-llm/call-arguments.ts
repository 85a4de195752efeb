import type { MockCall } from "./script.js";

/** A call's arguments as the text that is sent. */
export function argumentsOf(call: MockCall): string {
  if ("input" in call) return JSON.stringify({ input: call.input });
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

import * as z from "zod";
import { defineTool } from "../../../src/tools/define-tool.js";

/**
 * Two tools that need approval, one of them with plain-text input; one that needs none, one that fails, and one that
 * runs until it is stopped.
 */
export const sequenceTools = [
  defineTool({
    name: "note",
    description: "Notes a text",
    parameters: z.strictObject({ text: z.string() }),
    run: ({ text }) => `noted ${text}`,
  }),
  defineTool({
    name: "jot",
    description: "Notes a text as it is",
    parameters: z.strictObject({ input: z.string() }),
    freeform: true,
    run: ({ input }) => `noted ${input}`,
  }),
  defineTool({
    name: "look",
    description: "Looks",
    parameters: z.strictObject({ text: z.string().optional() }),
    readOnly: true,
    run: () => "",
  }),
  defineTool({
    name: "fail",
    description: "Fails",
    parameters: z.strictObject({}),
    readOnly: true,
    run: () => ({ content: "it did not work", success: false }),
  }),
  defineTool({
    name: "wait",
    description: "Waits",
    parameters: z.strictObject({}),
    readOnly: true,
    run: (_, context) =>
      new Promise((resolve) => {
        const { signal, callId, turnId, cwd } = context;
        signal.addEventListener("abort", () => resolve("stopped"), { once: true });
        context.emit({ type: "exec_command_begin", call_id: callId, turn_id: turnId, command: ["wait"], cwd });
      }),
  }),
];

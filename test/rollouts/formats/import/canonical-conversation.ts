import { messageText, type ResponseItem } from "../../../../src/messages/response-item.js";

/** The conversation that the fixtures contain in every format. */
export const canonical = [
  { user: "What do a.txt and b.txt say?" },
  { thought: "Both files should be read." },
  { assistant: "I will read both." },
  { call: "bash", command: "cat a.txt" },
  { call: "bash", command: "cat b.txt" },
  { output: "alpha", of: "cat a.txt" },
  { output: "beta", of: "cat b.txt" },
  { thought: "Now it is known." },
  { assistant: "They say alpha and beta." },
  { user: "Which word is longer?" },
  { assistant: "The word alpha is longer." },
];

/** The content of items, without ids and other values that differ between programs. */
export function plain(items: readonly ResponseItem[]): unknown[] {
  const commands = new Map<string, unknown>();
  return items.map((item) => {
    switch (item.type) {
      case "message":
        return { [item.role]: messageText(item) };
      case "reasoning":
        return { thought: [...item.summary, ...(item.content ?? [])].map(({ text }) => text).join("\n") };
      case "function_call": {
        const { command } = JSON.parse(item.arguments) as { command?: unknown };
        commands.set(item.call_id, command);
        return { call: item.name.toLowerCase(), command };
      }
      case "function_call_output":
        return { output: outputText(item.output), of: commands.get(item.call_id) };
      default:
        return { other: item.type };
    }
  });
}

function outputText(output: Extract<ResponseItem, { type: "function_call_output" }>["output"]): unknown {
  return typeof output === "string" ? output.trim() : output;
}

import type { ModelEvent } from "../../src/messages/model.js";
import type { Provider } from "../../src/providers/provider.js";

/** A provider that answers every question with one call that has an effect, and the call's output with one word. */
export function effectProvider(effects: string, label: string, kills: () => boolean): Provider {
  let count = 0;
  return {
    name: "effects",
    async *stream({ input }): AsyncGenerator<ModelEvent> {
      if (input.at(-1)?.type === "function_call_output") {
        const content = [{ type: "output_text" as const, text: "done" }];
        yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
        yield { type: "done", finishReason: "stop" };
        return;
      }
      count += 1;
      const callId = `${label}_${count}`;
      // The command's parent is the process that plays the turn.
      const command = `printf '%s\\n' ${callId} >> '${effects}'${kills() ? "; kill -KILL $PPID; sleep 60" : ""}`;
      const item = { type: "function_call" as const, name: "shell", arguments: JSON.stringify({ command }) };
      yield { type: "item", itemId: callId, item: { ...item, call_id: callId } };
      yield { type: "done", finishReason: "tool_calls" };
    },
  };
}

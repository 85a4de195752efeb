import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import type { ModelEvent, ModelRequest } from "../../src/messages/model.js";
import type { ResponseItem } from "../../src/messages/response-item.js";
import type { Provider } from "../../src/providers/provider.js";
import { defineTool } from "../../src/tools/define-tool.js";
import type { Tool } from "../../src/tools/tool.js";

/** The behaviour of the model, selected by the `model` setting of a conversation. */
export type Behaviour =
  "works" | "works_with_commands" | "crashes" | "floods" | "hangs_in_a_tool" | "hangs_in_a_command" | "hangs";

/** One provider for many conversations, each with its own behaviour. */
export const busyProvider: Provider = { name: "busy", stream: answer };

/** A tool that throws inside the conversation's own code, as a bug there would. */
export const crashingTool: Tool = {
  ...defineTool({ name: "crash", description: "", parameters: z.strictObject({}), run: async () => "never" }),
  get readOnly(): boolean {
    throw new Error("a bug");
  },
};

const floodedDeltas = 20_000;

async function* answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const step = request.input.length - request.input.findLastIndex((item) => item.type === "message");
  switch (request.model as Behaviour) {
    case "works":
      yield* step === 1 ? items(...looks, writes) : says("done");
      return;
    case "works_with_commands":
      yield* step === 1 ? items(...looks, runs, writes) : says("done");
      return;
    case "crashes":
      yield* call("crash", {});
      return;
    case "floods":
      for (let count = 0; count < floodedDeltas; count++) {
        yield { type: "text_delta", itemId: `item ${count}`, delta: "x" };
      }
      yield* says("flooded");
      return;
    case "hangs_in_a_tool":
      yield* call("hang", {});
      return;
    case "hangs_in_a_command":
      yield* call("shell", { command: "echo runs; sleep 1000 & sleep 1000" });
      return;
    case "hangs":
      while (!signal.aborted) await setImmediate();
  }
}

const looks = [callOf("read_file", "a", { path: "notes.txt" }), callOf("read_file", "b", { path: "missing.txt" })];
const runs = callOf("shell", "c", { command: ["cat", "notes.txt"] });
const writes = callOf("write_file", "d", { path: "out/result.txt", content: "written" });

function* call(name: string, args: object): Generator<ModelEvent> {
  yield* items(callOf(name, "a", args));
}

function* items(...all: readonly ResponseItem[]): Generator<ModelEvent> {
  for (const [index, item] of all.entries()) yield { type: "item", itemId: `${index}`, item };
  yield { type: "done", finishReason: "tool_calls" };
}

function* says(text: string): Generator<ModelEvent> {
  const content = [{ type: "output_text" as const, text }];
  yield { type: "item", itemId: "answer", item: { type: "message", role: "assistant", content } };
  yield { type: "done", finishReason: "stop" };
}

function callOf(name: string, callId: string, args: object): ResponseItem {
  return { type: "function_call", name, arguments: JSON.stringify(args), call_id: callId };
}

// A `setup` module whose model does what the last user message says, in the thread of its conversation.
import { threadId } from "node:worker_threads";

const usage = {
  input_tokens: 10,
  cached_input_tokens: 0,
  output_tokens: 5,
  reasoning_output_tokens: 0,
  total_tokens: 15,
};

const behaviours = {
  say: (text) => says(text),
  async *slow(count) {
    for (let index = 0; index < Number(count); index += 1) {
      yield { type: "text_delta", itemId: "item", delta: `${index} ` };
      await new Promise((resolve) => setImmediate(resolve));
    }
    yield* says("slow");
  },
  async *hang(_, signal) {
    yield { type: "text_delta", itemId: "item", delta: "hanging" };
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
  async *exit(code) {
    yield { type: "text_delta", itemId: "item", delta: "exiting" };
    process.exit(Number(code));
  },
  async *loop() {
    yield { type: "text_delta", itemId: "item", delta: "looping" };
    for (;;);
  },
  async *throw(text) {
    yield { type: "text_delta", itemId: "item", delta: "throwing" };
    setImmediate(() => {
      throw new Error(text);
    });
    await new Promise(() => undefined);
  },
  async *exhaust() {
    yield { type: "text_delta", itemId: "item", delta: "exhausting" };
    const kept = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
  },
  /** Ends the thread a moment later, when any conversation may be running. */
  *die(ms) {
    setTimeout(() => process.exit(1), Number(ms));
    yield* says("soon");
  },
  /** Begins the answer with the id of the thread. */
  async *thread(text, signal) {
    yield { type: "text_delta", itemId: "item", delta: `@${threadId} ` };
    yield* behave(text, signal);
  },
  run: (command) => calls("shell", { command }),
  /** Calls a tool of an MCP server: its full name, and its arguments as JSON. */
  mcp: (call) => {
    const [name, ...args] = call.split(" ");
    return calls(name, JSON.parse(args.join(" ") || "{}"));
  },
  /** Appends the id of the call to a file. */
  append: (text) => {
    const [id, file] = text.split(" ");
    return calls("shell", { command: `printf '%s\\n' ${id} >> ${file}` }, id);
  },
  effect: (name) => calls("write_file", { path: name, content: name }),
};

function* says(text) {
  yield { type: "text_delta", itemId: "item", delta: text };
  const item = { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
  yield { type: "item", itemId: "item", item };
  yield { type: "usage", usage };
  yield { type: "done", finishReason: "stop" };
}

function* calls(name, args, id = "c1") {
  const item = { type: "function_call", name, arguments: JSON.stringify(args), call_id: id };
  yield { type: "item", itemId: "call", item };
  yield { type: "usage", usage };
  yield { type: "done", finishReason: "tool_calls" };
}

export const providers = [
  {
    name: "unruly",
    async *stream(request, signal) {
      const last = request.input.at(-1);
      const text = last?.type === "message" ? last.content[0].text : "say done";
      yield* behave(text, signal);
    },
  },
];

function behave(text, signal) {
  const [behaviour, ...rest] = text.split(" ");
  return behaviours[behaviour](rest.join(" "), signal);
}

import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { WireApi } from "../../../src/messages/settings/config.js";
import { type ContentPart, type MessageItem, ResponseItem } from "../../../src/messages/response-item.js";
import { arbitraryOf } from "../../support/arbitrary-of.js";

export const model = "gpt-5";

const pixel = "data:image/png;base64,iVBORw0KGgo=";
const word = fc.constantFrom("one", "two", "three", "", " ", "cut \ud83d");
const callId = fc.constantFrom("call_1", "call_2", "call_1_2", "functions.shell:0", "x".repeat(70), "");

const part: Arbitrary<ContentPart> = fc.oneof(
  { arbitrary: fc.record({ type: fc.constantFrom("input_text", "output_text"), text: word }), weight: 5 },
  fc.record({
    type: fc.constant("input_image" as const),
    image_url: fc.constantFrom(pixel, "https://example.com/a.png", "file:///a.png", "data:image/bmp;base64,AA"),
  }),
  fc.record({ type: fc.constant("input_audio" as const), audio_url: fc.constant("https://example.com/a.wav") }),
);
const parts = fc.array(part, { maxLength: 3 });
const output = fc.oneof(word, parts);

const message: Arbitrary<MessageItem> = fc.record({
  type: fc.constant("message" as const),
  id: fc.constantFrom(undefined, null, "msg_1", "msg_2"),
  role: fc.constantFrom("user", "user", "assistant", "assistant", "developer", "system"),
  content: parts,
});

const origin = fc.option(
  fc.record({ api: fc.constantFrom<WireApi[]>("responses", "chat", "messages"), model: fc.constantFrom(model, "b") }),
  { nil: undefined },
);
const reasoning: Arbitrary<ResponseItem> = fc
  .tuple(
    fc.record({
      type: fc.constant("reasoning" as const),
      summary: fc.array(fc.record({ type: fc.constant("summary_text" as const), text: word }), { maxLength: 1 }),
      content: fc.option(
        fc.array(fc.record({ type: fc.constant("reasoning_text" as const), text: word }), { maxLength: 1 }),
      ),
      encrypted_content: fc.constantFrom(null, "", "sealed"),
    }),
    origin,
  )
  .map(([item, from]) => (from === undefined ? item : { ...item, origin: from }));

const name = fc.constantFrom("shell", "read_file", "no such tool", "");
const call: Arbitrary<ResponseItem> = fc.oneof(
  fc.record({
    type: fc.constant("function_call" as const),
    name,
    arguments: fc.constantFrom("{}", "", '{"a":1}', "{"),
    call_id: callId,
  }),
  fc.record({ type: fc.constant("custom_tool_call" as const), name, input: word, call_id: callId }),
  fc.record({
    type: fc.constant("local_shell_call" as const),
    status: fc.constant("completed"),
    call_id: fc.option(callId),
    action: fc.constant({ type: "exec", command: ["ls"] }),
  }),
);
const callOutput: Arbitrary<ResponseItem> = fc.record({
  type: fc.constantFrom("function_call_output", "custom_tool_call_output"),
  call_id: callId,
  output,
});

const search: Arbitrary<ResponseItem> = fc.record({
  type: fc.constant("web_search_call" as const),
  status: fc.constantFrom(null, "completed", "failed", "?"),
  action: fc.record({
    type: fc.constantFrom("search", "open_page", "find_in_page", "else", "constructor"),
    query: fc.constantFrom(null, "", "q"),
    url: fc.constantFrom(undefined, "https://a.b", 1),
    pattern: fc.constantFrom(undefined, "p\ud800"),
    sources: fc.constant([]),
  }),
});

/** Any items a rollout may have, in any order, with colliding ids. */
export const anyHistory: Arbitrary<ResponseItem[]> = fc.array(
  fc.oneof(
    { arbitrary: message, weight: 4 },
    { arbitrary: reasoning, weight: 3 },
    { arbitrary: call, weight: 5 },
    { arbitrary: callOutput, weight: 5 },
    { arbitrary: search, weight: 1 },
    { arbitrary: arbitraryOf(ResponseItem) as Arbitrary<ResponseItem>, weight: 2 },
  ),
  { maxLength: 25 },
);

interface Step {
  readonly thoughts: number;
  readonly hasText: boolean;
  readonly calls: number;
  readonly reversedOutputs: boolean;
}

/** The history of a conversation with one model without any fault, ending with a user message. */
export function validHistory(api: WireApi): Arbitrary<ResponseItem[]> {
  const step = fc.record<Step>({
    thoughts: fc.nat({ max: 2 }),
    hasText: fc.boolean(),
    calls: fc.integer({ min: 1, max: 3 }),
    reversedOutputs: fc.boolean(),
  });
  const turn = fc.record({ extraQuestions: fc.nat({ max: 1 }), steps: fc.array(step, { maxLength: 3 }) });
  return fc.array(turn, { maxLength: 4 }).map((turns) => {
    let count = 0;
    const next = () => ++count;
    const items = turns.flatMap(({ extraQuestions, steps }) => [
      ...Array.from({ length: extraQuestions + 1 }, () => messageOf("user", `question ${next()}`)),
      ...steps.flatMap((one) => stepItems(api, one, next)),
      messageOf("assistant", `answer ${next()}`),
    ]);
    return [...items, messageOf("user", `question ${next()}`)];
  });
}

function stepItems(
  api: WireApi,
  { thoughts, hasText, calls, reversedOutputs }: Step,
  next: () => number,
): ResponseItem[] {
  const ids = Array.from({ length: calls }, () => `call_${next()}`);
  const outputs = ids.map((call_id): ResponseItem => ({
    type: "function_call_output",
    call_id,
    output: `did ${call_id}`,
  }));
  return [
    ...Array.from({ length: thoughts }, (): ResponseItem => ({
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: `thought ${next()}` }],
      encrypted_content: "sealed",
      origin: { api, model },
    })),
    ...(hasText ? [messageOf("assistant", `words ${next()}`)] : []),
    ...ids.map((call_id): ResponseItem => ({ type: "function_call", name: "shell", arguments: "{}", call_id })),
    ...(reversedOutputs ? outputs.toReversed() : outputs),
  ];
}

function messageOf(role: "user" | "assistant", text: string): ResponseItem {
  return { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] };
}

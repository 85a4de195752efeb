import { type Answer, AnswerBuilder } from "../answer.js";
import { argumentsOf } from "../call-arguments.js";
import { objectOf } from "../json.js";
import type { MockReply } from "../script.js";
import { argumentPieces, partsOf } from "../split-deltas.js";
import type { Exchange } from "../wire-api.js";
import { finishReason, usageObject } from "./completion.js";

/** The chunks of a chat completion. */
export function streamedCompletion(reply: MockReply, exchange: Exchange): Answer {
  const { ids, createdAt, model, body } = exchange;
  const { text, textDeltas, reasoningDeltas } = partsOf(reply);
  const withUsage = objectOf(body["stream_options"])["include_usage"] === true;
  const fields = {
    id: ids.next("chatcmpl-"),
    object: "chat.completion.chunk",
    created: createdAt,
    model,
    service_tier: "default",
    system_fingerprint: "fp_mock",
  };
  const start = `data: ${JSON.stringify(fields).slice(0, -1)}`;
  const end = withUsage ? `,"usage":null}\n\n` : "}\n\n";
  const chunk = (delta: string, finish: string | null = null) =>
    `${start},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]${end}`;

  const answer = new AnswerBuilder();
  const calls = reply.calls ?? [];
  const content = text === "" && calls.length > 0 ? null : "";
  answer.event(chunk(JSON.stringify({ role: "assistant", content, refusal: null })));
  // Not OpenAI's: how compatible servers send what their models think.
  answer.deltas(reasoningDeltas, (delta) => chunk(`{"reasoning_content":${delta}}`));
  answer.deltas(textDeltas, (delta) => chunk(`{"content":${delta}}`));
  for (const [index, call] of calls.entries()) {
    const opened = { index, id: call.id ?? ids.next("call_"), type: "function" };
    const begun = { ...opened, function: { name: call.name, arguments: "" } };
    answer.event(chunk(JSON.stringify({ tool_calls: [begun] })));
    const pieces = argumentPieces(argumentsOf(call)).map((piece) => JSON.stringify(piece));
    answer.deltas(pieces, (piece) => chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${piece}}}]}`));
  }
  const usage = withUsage ? `${start},"choices":[],"usage":${JSON.stringify(usageObject(exchange.usage))}}\n\n` : "";
  return answer.finish(`${chunk("{}", finishReason(reply))}${usage}data: [DONE]\n\n`);
}

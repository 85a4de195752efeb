import type { Failure, FailureCode } from "../messages/failure.js";
import { FailureError } from "../messages/failure-error.js";
import { errorMessage } from "../base/error-message.js";
import { isRecord } from "../base/is-record.js";
import type { ModelEvent, ModelRequest } from "../messages/model.js";
import { check } from "../base/parse.js";
import {
  type ContentPart,
  type MessageItem,
  messageText,
  ResponseItem,
  withCodexParts,
} from "../messages/response-item.js";
import { type Provider, requestDigest } from "./provider.js";
import { codeOfStatus, isRetryable } from "./failures/answer-error.js";
import { orAborted } from "../base/time/waiting.js";

const overflow = /context[ _](?:length|window)[ _]exceeded|maximum context length|prompt is too long/i;
const networkCode = /^(?:UND_ERR_|ECONN|ENOTFOUND|ENET|EHOST|ETIMEDOUT|EPIPE|EAI_AGAIN)/;

/** The request passed to an injected client; `messages` holds the texts of the history. */
export interface ClientRequest extends ModelRequest {
  readonly messages: readonly { readonly role: MessageItem["role"]; readonly content: string }[];
}

/** A message whose text parts may use the short type `text`. */
export interface ClientMessage {
  readonly type: "message";
  readonly role: MessageItem["role"];
  readonly content: readonly (ContentPart | { readonly type: "text"; readonly text: string })[];
}

/** A model behind one function, injected by tests and embedding programs. */
export interface ModelClient {
  sendMessage(request: ClientRequest): Promise<readonly (ResponseItem | ClientMessage)[]>;
}

export function clientProvider(client: ModelClient): Provider {
  return { name: "client", stream: (request, signal) => answer(client, request, signal) };
}

async function* answer(client: ModelClient, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (signal.aborted) return;
  let items: readonly ResponseItem[];
  try {
    const answered = await orAborted(send(client, request), signal);
    if (answered === undefined) return;
    items = answered;
  } catch (error) {
    if (!signal.aborted) yield { type: "failed", failure: failureOf(error) };
    return;
  }
  const digest = requestDigest(request);
  for (const [index, item] of items.entries()) {
    if (signal.aborted) return;
    const itemId = ("id" in item ? item.id : undefined) ?? `client_${digest}_${index}`;
    const text = item.type === "message" && item.role === "assistant" ? messageText(item) : "";
    if (text !== "") yield { type: "text_delta", itemId, delta: text };
    yield { type: "item", itemId, item };
  }
  if (signal.aborted) return;
  const calls = items.some((item) => item.type === "function_call" || item.type === "custom_tool_call");
  yield { type: "done", finishReason: calls ? "tool_calls" : "stop" };
}

async function send(client: ModelClient, request: ModelRequest): Promise<ResponseItem[]> {
  const messages = request.input.flatMap((item) =>
    item.type === "message" ? [{ role: item.role, content: messageText(item) }] : [],
  );
  const answered: unknown = await client.sendMessage({ ...request, messages });
  if (!Array.isArray(answered)) throw new Error("the client did not answer with a list of items");
  return answered.map((item, index) => check(ResponseItem, withCodexParts(item), `the client's answer: item ${index}`));
}

function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = failureCode(error);
  return { code, message: errorMessage(error), retryable: isRetryable(code) };
}

function failureCode(error: unknown): FailureCode {
  if (!isRecord(error)) return "unknown";
  const { status, code, message, cause } = error;
  if (overflow.test(`${String(code)} ${String(message)}`)) return "context_overflow";
  if (typeof status === "number") return codeOfStatus(status);
  if (typeof code === "string" && networkCode.test(code)) return "network";
  return isRecord(cause) && typeof cause["code"] === "string" && networkCode.test(cause["code"])
    ? "network"
    : "unknown";
}

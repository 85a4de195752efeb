import type { IncomingHttpHeaders } from "node:http";
import { namedEvent } from "../answer.js";
import { objectOf, stringOf, isGiven, objectsOf } from "../json.js";
import type { Continuation } from "../memory.js";
import type { Problem } from "../problem.js";
import type { MockApi, Refusal } from "../wire-api.js";
import {
  anthropicError,
  anthropicKeyIn,
  anthropicMessageFor,
  anthropicRefusal,
  invalidMessages,
  wrongAnthropicKey,
} from "./errors.js";
import { wholeMessage } from "./message.js";
import { modelRequest } from "./request.js";
import { headerRefusal, ruleRefusal } from "./rules.js";
import { shapeProblem } from "./shape.js";
import { ping, streamedMessage } from "./stream.js";

/** A thread, which is a beta: what was said, the system and the tools stay with the server. */
const continuation: Continuation = {
  anchorIn: ({ thread }) => {
    const { type, previous_message_id: id } = objectOf(thread);
    return type === "continue" && typeof id === "string" ? id : undefined;
  },
  lost: (id) => ({
    status: 404,
    message: `thread: no thread found for previous_message_id ${id}`,
    details: { error_code: "thread_not_found" },
  }),
  joined: (kept, body) => ({
    ...kept,
    ...body,
    messages: [...objectsOf(kept["messages"]), ...objectsOf(body["messages"])],
  }),
  isKept: ({ thread }) => isGiven(thread),
  answered: ({ system, tools, messages }, content) => ({
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages: [...objectsOf(messages), ...(content.length === 0 ? [] : [{ role: "assistant", content }])],
  }),
};

/** Anthropic's Messages API. */
export const messagesApi: MockApi = {
  name: "messages",
  refusal: (body, headers, whole = body) => {
    const { thread: _, ...unthreaded } = body;
    const problem = shapeProblem(takesThreads(headers) ? unthreaded : body);
    if (!isWellFormed(body)) return unreadable("no low surrogate in string");
    return headerRefusal(headers) ?? (problem === undefined ? ruleRefusal(whole) : shapeRefusal(problem));
  },
  continuation,
  keyIn: anthropicKeyIn,
  wrongKey: wrongAnthropicKey,
  unreadable,
  unknownModel: (model) => ({ status: 404, message: `model: ${model}` }),
  overflow: invalidMessages("prompt is too long: 204857 tokens > 200000 maximum"),
  messageFor: anthropicMessageFor,
  errorBody: anthropicError,
  errorEvent: (refusal, { ids }) => namedEvent(anthropicError(refusal, ids)),
  ping,
  requestIdHeader: "request-id",
  sessionIn: (body) => stringOf(objectOf(body["metadata"])["user_id"]),
  modelRequest,
  answer: streamedMessage,
  whole: wholeMessage,
};

function unreadable(why: string): Refusal {
  return invalidMessages(`The request body is not valid JSON: ${why}`);
}

/** Half a character, as a text has it that was cut in the middle of one, is no JSON to this API. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.keys(value).every((key) => key.isWellFormed()) && Object.values(value).every(isWellFormed);
}

/** Some mistakes have sentences of their own. */
function shapeRefusal(problem: Problem): Refusal {
  const { path, received } = problem;
  if (path.at(-1) === "role" && received === "system") {
    return invalidMessages(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  }
  if (path.join(".") === "messages" && problem.kind === "too_small") {
    return invalidMessages("messages: at least one message is required");
  }
  if (path.at(-1) === "type" && problem.kind === "value") {
    const tags = problem.values.map((value) => `'${value}'`).join(", ");
    const found = `Input tag '${String(received)}' found using 'type' does not match any of the expected tags: ${tags}`;
    return invalidMessages(`${path.slice(0, -1).join(".")}: ${found}`);
  }
  return anthropicRefusal(problem);
}

/** Without the beta nobody knows of threads. */
function takesThreads({ "anthropic-beta": betas }: IncomingHttpHeaders): boolean {
  return String(betas ?? "").includes("message-threads-");
}

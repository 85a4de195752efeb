import { stringOf } from "../json.js";
import {
  badRequest,
  bearerIn,
  contentTypeRefusal,
  openAiError,
  openAiMessageFor,
  openAiRefusal,
  unreadableOpenAi,
  wrongOpenAiKey,
} from "../openai/errors.js";
import type { MockApi, Refusal } from "../wire-api.js";
import type { Problem } from "../problem.js";
import { wholeCompletion } from "./completion.js";
import { modelRequest } from "./request.js";
import { ruleRefusal } from "./rules.js";
import { shapeProblem } from "./shape.js";
import { streamedCompletion } from "./stream.js";

const windowTokens = 128_000;

/** OpenAI's Chat Completions API. */
export const chatApi: MockApi = {
  name: "chat",
  refusal: (body, headers) => {
    const problem = shapeProblem(body);
    return contentTypeRefusal(headers) ?? (problem === undefined ? ruleRefusal(body) : shapeRefusal(problem));
  },
  keyIn: bearerIn,
  wrongKey: wrongOpenAiKey,
  unreadable: unreadableOpenAi,
  unknownModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  }),
  overflow: {
    status: 400,
    message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${windowTokens + 2_345} tokens. Please reduce the length of the messages.`,
    param: "messages",
    code: "context_length_exceeded",
  },
  messageFor: openAiMessageFor,
  errorBody: openAiError,
  errorEvent: (refusal) => `data: ${JSON.stringify(openAiError(refusal))}\n\n`,
  ping: ": keep-alive\n\n",
  requestIdHeader: "x-request-id",
  sessionIn: (body) => stringOf(body["prompt_cache_key"]),
  modelRequest,
  answer: streamedCompletion,
  whole: wholeCompletion,
};

/** This API has an older sentence for what it does not know at the top. */
function shapeRefusal(problem: Problem): Refusal {
  const isTop = problem.kind === "unknown" && problem.path.length === 1;
  if (!isTop) return openAiRefusal(problem);
  return badRequest(`Unrecognized request argument supplied: ${String(problem.path[0])}`, null);
}

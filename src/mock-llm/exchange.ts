import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../base/is-record.js";
import type { ModelRequest } from "../messages/model.js";
import type { TokenUsage } from "../messages/token-usage.js";
import { offlineReply } from "../providers/offline/reply.js";
import { type JsonObject, stringOf } from "./json.js";
import type { MockReply, MockScript } from "./script.js";
import { argumentsOf, partsOf } from "./split-deltas.js";
import type { Ids, Exchange, MockApi, Refusal } from "./wire-api.js";

export const offlineReplies: Replies = (_session, request) => {
  const requested = request();
  const reply = offlineReply(requested);
  if (reply.type === "text") return { text: reply.text };
  const { name, arguments: args } = reply;
  const isFreeform = requested.tools.some((tool) => tool.name === name && tool.freeform === true);
  return { calls: [isFreeform ? { name, input: String(args["input"]) } : { name, arguments: args }] };
};

/** Only this many sessions are remembered; the oldest then starts from the beginning again. */
const maxSessions = 100_000;

/** Only the newest answers can be continued. */
const maxKept = 1_000;

/** No agent's request comes near this depth. The limit protects the recursive checks. */
const maxDepth = 500;

const charsPerToken = 4;

/** The server's options, as used for each request. */
export interface Behaviour {
  readonly strict: boolean;
  readonly apiKey: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly replies: Replies;
  readonly memory: Memory;
  readonly ids: Ids;
  readonly now: () => number;
}

interface ReceivedRequest {
  readonly api: MockApi;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if the body is too large. */
  readonly text: string | undefined;
}

export type Decision =
  | { readonly type: "refuse"; readonly body: unknown; readonly session: string; readonly refusal: Refusal }
  | {
      readonly type: "reply";
      readonly body: JsonObject;
      readonly session: string;
      readonly reply: MockReply;
      readonly exchange: Exchange;
    };

/** Decides the answer to a request. */
export function decide({ api, headers, text }: ReceivedRequest, behaviour: Behaviour): Decision {
  if (text === undefined) return refuse({ status: 413, message: "Request exceeds the maximum size" }, undefined);
  const parsed = readValue(text);
  const body = parsed instanceof Error ? text : parsed;
  if (behaviour.apiKey !== undefined && api.keyIn(headers) !== behaviour.apiKey) {
    return refuse(api.wrongKey(api.keyIn(headers)), body);
  }
  if (!isRecord(body)) return refuse(api.unreadable(parsed instanceof Error ? parsed.message : "not an object"), body);
  const session = headerOf(headers, "x-mock-session") ?? headerOf(headers, "session_id") ?? api.sessionIn(body);
  const whole = joinStoredRequest(api, body, behaviour.memory);
  const refusal = behaviour.strict ? (whole.refusal ?? api.refusal(body, headers, whole.body)) : undefined;
  if (refusal !== undefined) return refuse(refusal, body, session);
  const model = stringOf(body["model"]);
  if (behaviour.models?.includes(model) === false) return refuse(api.unknownModel(model), body, session);
  const reply = behaviour.replies(session, () => api.modelRequest(whole.body));
  if (reply === undefined)
    return refuse({ status: 400, message: "mock-llm: the script has no more replies" }, body, session);
  const exchange: Exchange = {
    body,
    model: model === "" ? "mock" : model,
    usage: usageOf(reply, text.length),
    ids: behaviour.ids,
    createdAt: Math.floor(behaviour.now() / 1_000),
    unasked: !behaviour.strict,
    remember: (id, content) => {
      const { continuation } = api;
      if (continuation?.isKept(body) === true) behaviour.memory.keep(id, continuation.answered(whole.body, content));
    },
  };
  return { type: "reply", body, session, reply, exchange };
}

/** The request, joined with the stored one that it continues. */
function joinStoredRequest(
  { continuation }: MockApi,
  body: JsonObject,
  memory: Memory,
): { body: JsonObject; refusal?: Refusal } {
  const anchor = continuation?.anchorIn(body);
  if (continuation === undefined || anchor === undefined) return { body };
  const stored = memory.recall(anchor);
  return stored === undefined
    ? { body, refusal: continuation.lost(anchor) }
    : { body: continuation.joined(stored, body) };
}

function refuse(refusal: Refusal, body: unknown, session = ""): Decision {
  return { type: "refuse", body, session, refusal };
}

/** The parsed value, or the error. */
function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? new Error("nested too deep") : value;
  } catch (error) {
    return error;
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The usage from the script; missing numbers are estimated. */
function usageOf(reply: MockReply, requestBytes: number): TokenUsage {
  const { text, reasoning } = partsOf(reply);
  const calls = (reply.calls ?? []).map((call) => call.name + argumentsOf(call));
  const { usage = {} } = reply;
  const input_tokens = usage.input_tokens ?? tokens(requestBytes);
  const reasoning_output_tokens = usage.reasoning_output_tokens ?? tokens(reasoning.length);
  const output_tokens = usage.output_tokens ?? tokens(text.length + calls.join("").length) + reasoning_output_tokens;
  return {
    input_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    output_tokens,
    reasoning_output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

function tokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

function isTooDeep(value: unknown, left = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((part) => isTooDeep(part, left - 1));
}

/** Requests with their answers, by the id of the answer. */
export class Memory {
  readonly #stored = new Map<string, JsonObject>();

  recall(id: string): JsonObject | undefined {
    return this.#stored.get(id);
  }

  keep(id: string, request: JsonObject): void {
    this.#stored.set(id, request);
    const oldest = this.#stored.size > maxKept ? this.#stored.keys().next().value : undefined;
    if (oldest !== undefined) this.#stored.delete(oldest);
  }
}

/** The source of replies. Returns undefined when the script has no more. */
export type Replies = (session: string, request: () => ModelRequest) => MockReply | undefined;

export function scriptedReplies({ replies, per = "server", afterLast = "error" }: MockScript): Replies {
  const places = new Map<string, number>();
  const listOf = bySession(replies);
  return (session, request) => {
    const [key, list] = listOf(session, per);
    const place = places.get(key) ?? 0;
    const reply = list[afterLast === "repeat" ? place % list.length : place];
    if (reply === undefined) return afterLast === "offline" ? offlineReplies(session, request) : undefined;
    places.set(key, place + 1);
    const oldest = places.size > maxSessions ? places.keys().next().value : undefined;
    if (oldest !== undefined) places.delete(oldest);
    return reply;
  };
}

/** A session named in the script has its own list; all others use the replies without a session. */
function bySession(replies: readonly MockReply[]) {
  const named = new Map<string | undefined, MockReply[]>();
  for (const reply of replies) named.set(reply.session, [...(named.get(reply.session) ?? []), reply]);
  const common = named.get(undefined) ?? [];
  return (session: string, per: "server" | "session"): [key: string, list: readonly MockReply[]] => {
    const own = named.get(session);
    if (own !== undefined) return [`own ${session}`, own];
    return [per === "session" ? `each ${session}` : "all", common];
  };
}

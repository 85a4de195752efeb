import type { ServerResponse, IncomingHttpHeaders } from "node:http";
import type { WireApi } from "../messages/settings/config.js";
import type { Decision } from "./exchange.js";
import type { Ids, Exchange, MockApi, Refusal } from "./wire-api.js";
import { type Plan, planOf, type StreamFault, type Pace, sendPlan } from "./send-plan.js";
import type { MockFault, MockReply } from "./script.js";
import { partsOf } from "./split-deltas.js";

const secretHeaders = new Set(["authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"]);

/** The outcome for the log, and the function that sends it. */
interface Prepared extends Pick<LoggedRequest, "status" | "refusal" | "fault"> {
  readonly send: () => Promise<void>;
}

type ErrorEvent = Extract<MockFault, { type: "error_event" }>;

const defaultPerWrite = 64;
const defaultErrorStatus = 529;
const defaultRetryAfter = 1;
/** The longest delay that a timer supports. */
const maxTimerMs = 2 ** 31 - 1;

export function respond(response: ServerResponse, api: MockApi, decision: Decision, ids: Ids): Prepared {
  if (decision.type === "refuse") return refused(response, api, decision.refusal, ids, undefined);
  const { reply, exchange } = decision;
  const { fault } = reply;
  if (fault?.type === "overflow") return refused(response, api, api.overflow, ids, fault);
  if (fault?.type === "status") return refused(response, api, statusRefusal(api, fault), ids, fault);
  const streams = exchange.body["stream"] === true;
  // Without streaming, the error is sent as the response.
  if (fault?.type === "error_event" && !streams) return refused(response, api, eventRefusal(api, fault), ids, fault);
  if (fault?.type === "disconnect" && fault.afterBytes === 0) return silent(response, fault);
  if (fault?.type === "stall" && fault.afterBytes === undefined) return silent(response, fault);
  const plan = planFor(api, reply, exchange, streams ? fault : bodyFault(fault));
  return {
    status: 200,
    refusal: undefined,
    fault: fault?.type,
    send: async () => {
      response.writeHead(200, {
        "content-type": streams ? "text/event-stream; charset=utf-8" : "application/json",
        "cache-control": "no-cache",
        [api.requestIdHeader]: ids.next("req_"),
      });
      response.flushHeaders();
      await sendPlan(response, plan, streams ? paceOf(reply) : wholePace(reply));
    },
  };
}

function planFor(api: MockApi, reply: MockReply, exchange: Exchange, fault: StreamFault | undefined): Plan {
  const streams = exchange.body["stream"] === true;
  const answer = streams
    ? api.answer(reply, exchange)
    : { steps: [""], tail: "", terminal: JSON.stringify(api.whole(reply, exchange)) };
  return planOf(answer, fault, {
    ping: streams ? api.ping : " ",
    errorEvent: (error, sent) => api.errorEvent(eventRefusal(api, error), exchange, sent),
  });
}

function paceOf({ delayMs = 0, perWrite }: MockReply): Pace {
  return { delayMs, perWrite: perWrite ?? (delayMs > 0 ? 1 : defaultPerWrite) };
}

/** An answer that is not streamed arrives when its last delta would. */
function wholePace(reply: MockReply): Pace {
  const { textDeltas, reasoningDeltas } = partsOf(reply);
  const deltas = textDeltas.length + reasoningDeltas.length + (reply.calls ?? []).length;
  return { delayMs: Math.min((reply.delayMs ?? 0) * deltas, maxTimerMs), perWrite: 1 };
}

/** Maps a stream fault to a response that is not streamed. */
function bodyFault(fault: StreamFault | undefined): StreamFault | undefined {
  if (fault?.type === "duplicate_terminal") return undefined;
  return fault?.type === "garbage" ? { type: "garbage" } : fault;
}

function eventRefusal(api: MockApi, { status = defaultErrorStatus, message }: ErrorEvent): Refusal {
  return statusRefusal(api, { type: "status", status, message });
}

function statusRefusal(api: MockApi, fault: Extract<MockFault, { type: "status" }>): Refusal {
  const { status, message, retryAfter: wait } = fault;
  if (status === 401 && message === undefined) return api.wrongKey("mock");
  return { status, message: message ?? api.messageFor(status, typeof wait === "number" ? wait : defaultRetryAfter) };
}

function refused(
  response: ServerResponse,
  api: MockApi,
  refusal: Refusal,
  ids: Ids,
  fault: Extract<MockFault, { type: "overflow" | "status" | "error_event" }> | undefined,
): Prepared {
  const { status, message } = refusal;
  return {
    status,
    refusal: message,
    fault: fault?.type,
    send: async () => {
      const body = JSON.stringify(api.errorBody(refusal, ids));
      response.writeHead(status, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        [api.requestIdHeader]: ids.next("req_"),
        ...retryAfter(status, fault),
      });
      response.end(body);
    },
  };
}

/** The `retry-after` header; for 429, one second if the script does not set it. */
function retryAfter(status: number, fault: MockFault | undefined): Record<string, string> {
  const configured = fault?.type === "status" ? fault.retryAfter : undefined;
  const value = configured ?? (fault !== undefined && status === 429 ? defaultRetryAfter : undefined);
  return value === undefined ? {} : { "retry-after": String(value) };
}

/** No response, not even headers: the connection is closed, or stays open forever. */
function silent(response: ServerResponse, fault: Extract<MockFault, { type: "disconnect" | "stall" }>): Prepared {
  return {
    status: undefined,
    refusal: undefined,
    fault: fault.type,
    send: async () => {
      if (fault.type === "stall") return;
      if (fault.reset === true) response.socket?.resetAndDestroy();
      else response.socket?.destroy();
    },
  };
}

/** A received request, without its credentials. */
export interface LoggedRequest {
  readonly number: number;
  readonly api: WireApi | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed; the text itself if it is not JSON. */
  readonly body: unknown;
  readonly session: string;
  /** Undefined if there was no response at all. */
  readonly status: number | undefined;
  /** The message of the refusal, if it was refused. */
  readonly refusal: string | undefined;
  readonly fault: MockFault["type"] | undefined;
}

export function withoutSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.has(name)));
}

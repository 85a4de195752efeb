import { isRecord } from "../../base/is-record.js";
import type { Failure, FailureCode } from "../../messages/failure.js";
import { FailureError } from "../../messages/failure-error.js";
import { AnswerError } from "./answer-error.js";
import { failureText, type HiddenSecrets } from "./failure-text.js";
import { codeOfStatus, isRetryable } from "./retryable.js";

const maxRetryAfterMs = 5 * 60_000;

const lostConnection =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_SOCKET|HPE_|Z_|ERR__?ZLIB)/;

const timedOut = /^(?:ETIMEDOUT|UND_ERR_\w*TIMEOUT)/;

const unreachable = /^(?:ECONNREFUSED|EHOST|ENET|EADDR|UND_ERR_)/;

const unknownHost = /^(?:ENOTFOUND|EAI_)/;

const distrusted = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

/** The provider and the credential of a failed request. */
export interface FailureContext extends HiddenSecrets {
  readonly provider: string;
  /** Appended to the message when the server rejects the credential: where it comes from and how to change it. */
  readonly origin?: string | undefined;
}

/** An error that a server reported, as an HTTP error or as an event of its stream. */
export interface ServerError {
  readonly status?: number | undefined;
  /** `code` and `type` of the error body; servers use one or the other. */
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Converts an error thrown while a request was sent or its answer was read. */
export function wireFailure(error: unknown, context: FailureContext): Failure {
  for (let cause = error, depth = 0; isRecord(cause) && depth < maxCauses; cause = cause["cause"], depth += 1) {
    if (cause instanceof FailureError) return named(cause.failure, context);
    if (cause instanceof AnswerError) return serverFailure(answeredError(cause), context);
    const { code } = cause;
    const network = typeof code === "string" ? networkFailure(code, hostOf(cause)) : undefined;
    if (network !== undefined) return named(network, context);
  }
  const message = error instanceof Error ? error.message : String(error);
  return named({ code: "unknown", message, retryable: false }, context);
}

/** Converts a server's error; an error inside a stream has no status. */
export function serverFailure(error: ServerError, context: FailureContext): Failure {
  const code = codeOf(error);
  const text = failureText(error.message ?? "", context);
  const said = text === "" ? failureText(error.code ?? error.type ?? "", context) : text;
  const status =
    error.status === undefined
      ? ""
      : error.status === 401
        ? " rejected the API key or login (401)"
        : ` answered ${error.status}`;
  const message = `${context.provider}${status}${said === "" ? "" : `: ${said}`}`;
  const isRejected = error.status === 401 && context.origin !== undefined;
  return {
    code,
    // On a line of its own: anything after "Authorization:" on a line is redacted.
    message: isRejected ? `${message}\n${context.origin}` : message,
    retryable: isRetryable(code) && !outOfMoney.test(words(error)),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
}

/** Finds the error in a body or an event of any shape: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`. */
export function errorIn(body: unknown): ServerError {
  if (typeof body === "string") return { message: body };
  if (!isRecord(body)) return {};
  const inner = body["error"];
  if (typeof inner === "string" || isRecord(inner)) return errorIn(inner);
  const { code, type, message, detail, status } = body;
  const number = [status, code].find((value) => typeof value === "number" && value >= 400 && value < 600);
  return {
    status: typeof number === "number" ? number : undefined,
    code: textOf(code),
    type: textOf(type),
    message: textOf(message) ?? textOf(detail),
  };
}

const maxCauses = 5;
const overflow =
  /maximum context length|context[ _](?:length|window)[ _]exceeded|too many tokens|exceeds the (?:model|available context)|prompt is too long|exceeds? the context window/i;
const outOfMoney = /insufficient_quota|exceeded your current quota|credit balance is too low/i;
const filtered = /content_policy|content_filter|moderation/;
/** Error names, for errors inside a stream, which have no status. */
const names: readonly (readonly [RegExp, FailureCode])[] = [
  [/rate_limit|too_many_requests|insufficient_quota/, "rate_limit"],
  [/authentication|permission|api_key|unauthorized|forbidden/, "auth"],
  [filtered, "content_filtered"],
  [/invalid|not_found|too_large|unsupported|bad_?request/, "invalid_request"],
  [/overloaded|unavailable|slow_down/, "overloaded"],
  [/timeout/, "timeout"],
];

function codeOf(error: ServerError): FailureCode {
  const { status } = error;
  const name = `${error.code ?? ""} ${error.type ?? ""}`.toLowerCase();
  if (status === undefined) {
    if (overflow.test(words(error))) return "context_overflow";
    return names.find(([pattern]) => pattern.test(name))?.[1] ?? "server";
  }
  const code = codeOfStatus(status);
  if (code !== "invalid_request") return code;
  if (overflow.test(words(error))) return "context_overflow";
  return filtered.test(name) ? "content_filtered" : code;
}

function answeredError({ status, body, retryAfter }: AnswerError): ServerError {
  return { ...errorIn(body), status, retryAfterMs: retryAfterMs(retryAfter, Date.now()) };
}

function hostOf({ hostname, address, port }: Record<string, unknown>): string | undefined {
  const host = textOf(hostname) ?? textOf(address);
  return host !== undefined && typeof port === "number" ? `${host}:${port}` : host;
}

function named(failure: Failure, context: FailureContext): Failure {
  return { ...failure, message: `${context.provider}: ${failureText(failure.message, context)}` };
}

const words = ({ code, type, message }: ServerError): string => `${code ?? ""} ${type ?? ""} ${message ?? ""}`;
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Converts a system error code to a network failure; undefined if it is about something else. */
function networkFailure(code: string, host: string | undefined): Failure | undefined {
  const where = host === undefined ? "the server" : host;
  const failure = (what: string, retryable = true, kind: Failure["code"] = "network"): Failure => ({
    code: kind,
    message: `${what} (${code})`,
    retryable,
  });
  if (lostConnection.test(code)) return failure("the connection was lost");
  if (timedOut.test(code)) return failure(`${where} did not answer in time`, true, "timeout");
  if (unreachable.test(code)) return failure(`cannot connect to ${where}`);
  if (unknownHost.test(code)) return failure(`cannot resolve the host name of ${where}`);
  if (distrusted.test(code)) return failure(`cannot make a secure connection to ${where}`, false);
  return undefined;
}

/** Parses `retry-after`, which holds seconds or a date. Caps an excessive wait. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.ceil(ms), 0), maxRetryAfterMs);
}

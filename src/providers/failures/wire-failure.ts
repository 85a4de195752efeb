import { errorMessage } from "../../base/error-message.js";
import { isRecord } from "../../base/is-record.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure, FailureCode } from "../../messages/failure.js";
import type { ModelEvent } from "../../messages/model.js";
import type { AnswerHeaders } from "../transport/transport.js";
import { AnswerError, codeOfStatus, isRetryable, failureText, type HiddenSecrets } from "./answer-error.js";

const maxRateLimitWaitMs = 5 * 60_000;

/** The kinds of limits in the rate limit headers of OpenAI-compatible servers and Anthropic. */
const kinds = ["requests", "tokens", "input-tokens", "output-tokens"];

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const maxRetryAfterMs = 5 * 60_000;

const lostConnection =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_SOCKET|HPE_|Z_|ERR__?ZLIB)/;

const timedOut = /^(?:ETIMEDOUT|UND_ERR_\w*TIMEOUT)/;

const unreachable = /^(?:ECONNREFUSED|EHOST|ENET|EADDR|UND_ERR_)/;

const unknownHost = /^(?:ENOTFOUND|EAI_)/;

const distrusted = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

const maxCauses = 5;
const overflow =
  /maximum context length|context[ _](?:length|window)[ _]exceeded|too many tokens|exceeds the (?:model|available context)|prompt is too long|exceeds? the context window/i;
const outOfMoney = /insufficient_quota|exceeded your current quota|credit balance is too low/i;
const filtered = /content_policy|content_filter|moderation/;

/** The provider and the credential of a failed request. */
export interface FailureContext extends HiddenSecrets {
  readonly provider: string;
  /** Appended to the message when the server rejects the credential: where it comes from and how to change it. */
  readonly origin?: string | undefined;
}

/** An error that a server reported, as an HTTP error or as an event of its stream. */
interface ServerError {
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
  const message = errorMessage(error);
  return named({ code: "unknown", message, retryable: false }, context);
}

/** Converts a server's error; an error inside a stream has no status. */
export function serverFailure(error: ServerError, context: FailureContext): Failure {
  const code = codeOf(error);
  const text = failureText(error.message ?? "", context);
  const detail = text === "" ? failureText(error.code ?? error.type ?? "", context) : text;
  const status =
    error.status === undefined
      ? ""
      : error.status === 401
        ? " rejected the API key or login (401)"
        : ` answered ${error.status}`;
  const message = `${context.provider}${status}${detail === "" ? "" : `: ${detail}`}`;
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

/**
 * The final event of an answer that a content filter stopped. Not retryable, because the filter would stop it again.
 */
export function contentFiltered({ provider }: FailureContext): ModelEvent {
  const message = `${provider}: the answer was stopped by a content filter`;
  return { type: "failed", failure: { code: "content_filtered", message, retryable: false } };
}

/** How long to wait because a rate limit is exhausted; undefined while something remains. */
export function rateLimitWaitMs(headers: AnswerHeaders, nowMs: number): number | undefined {
  // Fast path: most answers have no such headers, and a thousand answers may begin at the same time.
  if (!Object.keys(headers).some((name) => name.includes("ratelimit"))) return undefined;
  const wait = (remaining: string, reset: string): number => waitOf(headers[remaining], headers[reset], nowMs);
  const waits = kinds.flatMap((kind) => [
    wait(`x-ratelimit-remaining-${kind}`, `x-ratelimit-reset-${kind}`),
    wait(`anthropic-ratelimit-${kind}-remaining`, `anthropic-ratelimit-${kind}-reset`),
  ]);
  const longest = Math.max(...waits);
  return longest > 0 ? Math.min(longest, maxRateLimitWaitMs) : undefined;
}

function waitOf(remaining: AnswerHeaders[string], reset: AnswerHeaders[string], nowMs: number): number {
  if (typeof remaining !== "string" || typeof reset !== "string") return 0;
  if (remaining.trim() === "" || Number(remaining) > 0) return 0;
  const ms = durationMs(reset.trim()) ?? Date.parse(reset) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
}

/** Parses `1s`, `6m0s`, `20ms`, or bare seconds. */
function durationMs(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    ms += Number(amount) * (units[unit ?? ""] ?? 0);
  return ms;
}

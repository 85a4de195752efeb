import type { IncomingHttpHeaders } from "node:http";
import type { WireApi } from "../messages/config.js";
import type { MockFault } from "./script.js";

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

const secretHeaders = new Set(["authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"]);

export function withoutSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.has(name)));
}

import type { IncomingHttpHeaders } from "node:http";
import type { WireApi } from "../messages/settings/config.js";
import type { ModelRequest } from "../messages/model.js";
import type { TokenUsage } from "../messages/token-usage.js";
import type { Answer } from "./answer.js";
import type { JsonObject } from "./json.js";
import type { MockReply } from "./script.js";

/** A refused request; each wire API formats it differently. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** OpenAI's `code` and `param`. */
  readonly code?: string | null;
  readonly param?: string | null;
  /** The error's type, if it does not follow from the status. */
  readonly type?: string;
  /** Anthropic's `details`. */
  readonly details?: object;
}

/** A request that is being answered. */
export interface Exchange {
  readonly body: JsonObject;
  readonly model: string;
  readonly usage: TokenUsage;
  readonly ids: Ids;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Whether reasoning is sent even if the request does not ask for it. */
  readonly unasked: boolean;
  /** Stores the answer, so that a later request can continue from it. */
  remember(id: string, content: readonly object[]): void;
}

/** One wire API as implemented by the mock server. */
export interface MockApi {
  readonly name: WireApi;
  /**
   * The refusal with which the real API would answer; undefined if it would accept the request. `whole` includes what
   * the server stored.
   */
  refusal(body: JsonObject, headers: IncomingHttpHeaders, whole?: JsonObject): Refusal | undefined;
  readonly continuation?: Continuation;
  /** The key that the client sent. */
  keyIn(headers: IncomingHttpHeaders): string | undefined;
  wrongKey(key: string | undefined): Refusal;
  unknownModel(model: string): Refusal;
  /** The refusal for an unreadable body; `why` is the error of the JSON parser. */
  unreadable(why: string): Refusal;
  readonly overflow: Refusal;
  /** The default message for an error status. */
  messageFor(status: number, waitSeconds: number): string;
  errorBody(refusal: Refusal, ids: Ids): object;
  /** `sent` is the part of the stream before the event. */
  errorEvent(refusal: Refusal, exchange: Exchange, sent: string): string;
  readonly ping: string;
  readonly requestIdHeader: string;
  /** The conversation's name in a request; empty if there is none. */
  sessionIn(body: JsonObject): string;
  modelRequest(body: JsonObject): ModelRequest;
  answer(reply: MockReply, exchange: Exchange): Answer;
  /** The same answer as a single JSON object. */
  whole(reply: MockReply, exchange: Exchange): object;
}

/** How a wire API continues from an answer that the client does not send back. */
export interface Continuation {
  /** The id of the answer that a request continues. */
  anchorIn(body: JsonObject): string | undefined;
  /** The refusal for an unknown answer. */
  lost(id: string): Refusal;
  /** Joins a stored request with a new one into a self-contained request. */
  joined(kept: JsonObject, body: JsonObject): JsonObject;
  isKept(body: JsonObject): boolean;
  /** The data to store for a self-contained request and its answer. */
  answered(whole: JsonObject, content: readonly object[]): JsonObject;
}

/** Generates ids that look like an API's own and are unique per server. */
export class Ids {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#seed}${this.#count.toString(36).padStart(8, "0")}`;
  }
}

import type { IncomingHttpHeaders } from "node:http";
import type { WireApi } from "../messages/config.js";
import type { ModelRequest } from "../messages/model.js";
import type { TokenUsage } from "../messages/token-usage.js";
import type { Answer } from "./answer.js";
import type { Ids } from "./ids.js";
import type { JsonObject } from "./json.js";
import type { MockReply } from "./script.js";

/** A no, in words; the wire API gives it its shape. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** OpenAI's `code` and `param`. */
  readonly code?: string | null;
  readonly param?: string | null;
  /** The error's type, when the status does not say it. */
  readonly type?: string;
  /** Anthropic's `details`. */
  readonly details?: object;
}

/** One request on its way to its answer. */
export interface Exchange {
  readonly body: JsonObject;
  readonly model: string;
  readonly usage: TokenUsage;
  readonly ids: Ids;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Reasoning is sent although nobody asked for it. */
  readonly unasked: boolean;
  /** Keeps what was answered for those who go on from it. */
  remember(id: string, content: readonly object[]): void;
}

/** One wire API as the mock server speaks it. */
export interface MockApi {
  readonly name: WireApi;
  /** Why the real API would refuse this request; undefined when it would not. `whole` has what the server remembers. */
  refusal(body: JsonObject, headers: IncomingHttpHeaders, whole?: JsonObject): Refusal | undefined;
  readonly continuation?: Continuation;
  /** The key the client proves itself with. */
  keyIn(headers: IncomingHttpHeaders): string | undefined;
  wrongKey(key: string | undefined): Refusal;
  unknownModel(model: string): Refusal;
  /** The body cannot be read; `why` says what JSON has against it. */
  unreadable(why: string): Refusal;
  readonly overflow: Refusal;
  /** What an error of this status says when nobody gave it words. */
  messageFor(status: number, waitSeconds: number): string;
  errorBody(refusal: Refusal, ids: Ids): object;
  /** `sent` is what came before it. */
  errorEvent(refusal: Refusal, exchange: Exchange, sent: string): string;
  readonly ping: string;
  readonly requestIdHeader: string;
  /** What names the conversation in a request; empty when nothing does. */
  sessionIn(body: JsonObject): string;
  modelRequest(body: JsonObject): ModelRequest;
  answer(reply: MockReply, exchange: Exchange): Answer;
  /** The same answer in one piece of JSON. */
  whole(reply: MockReply, exchange: Exchange): object;
}

/** How a wire API goes on from an answer that its client does not send back. */
export interface Continuation {
  /** The answer a request goes on from. */
  anchorIn(body: JsonObject): string | undefined;
  /** What is said when there is no such answer. */
  lost(id: string): Refusal;
  /** The request as one that needs no memory. */
  joined(kept: JsonObject, body: JsonObject): JsonObject;
  isKept(body: JsonObject): boolean;
  /** What is kept of a request that needs no memory, and of its answer. */
  answered(whole: JsonObject, content: readonly object[]): JsonObject;
}

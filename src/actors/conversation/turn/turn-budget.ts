import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { EffectiveLimits } from "../../../config/settings/effective-settings.js";
import { counted } from "../../../base/text/counted.js";
import type { Failure } from "../../../messages/failure.js";
import { shortened } from "../../../base/text/truncate.js";
import { type TokenUsage, addUsage, noTokens, type TokenUsageInfo } from "../../../messages/token-usage.js";
import type { ModelPrice } from "../../../config/models/model-table.js";
import { costOf } from "../../../config/models/models.js";

const maxReasonChars = 200;

/** A limit that stops a turn, and how much the turn has used. */
interface ReachedLimit {
  readonly key: Exclude<keyof EffectiveLimits, "approvalSeconds" | "identicalFailures">;
  readonly limit: number;
  readonly used: number;
}

/** A tool call that has ended. */
interface EndedCall {
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly args: string;
  readonly success: boolean;
  readonly output: string;
}

/**
 * The limits of one turn. Its signal aborts the turn's work: when the turn is aborted, when the time is over, and when
 * an answer is too long.
 */
export class TurnBudget implements Disposable {
  readonly signal: AbortSignal;
  readonly #limits: EffectiveLimits;
  // `AbortSignal.any` would cost ten times as much.
  readonly #controller = new AbortController();
  readonly #turn: AbortSignal;
  readonly #abort = (): void => this.#controller.abort(this.#turn.reason);
  #isTimeOver = false;
  #steps = 0;
  #tokens = 0;
  /** Number of failures of each call since the last new success, keyed by a hash of name and arguments. */
  readonly #failures = new Map<string, number>();
  readonly #succeeded = new Set<string>();
  /**
   * Calls of the current step that have failed. Repeats in one answer count once, because the model has not seen the
   * error yet.
   */
  readonly #failedInStep = new Set<string>();
  #repeated: Failure | undefined;
  /** Set by a hook that ends the turn. */
  #stopped: Failure | undefined;
  /** Bytes of all answers so far. */
  #bytes = 0;
  #isAnswerTooLong = false;
  /** Bytes of the last answer. */
  #answerBytes = 0;
  #usd = 0;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: EffectiveLimits, signal: AbortSignal) {
    this.#limits = limits;
    this.#leftMs = limits.seconds * 1000;
    this.signal = this.#controller.signal;
    this.#turn = signal;
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#abort);
    // Every running tool listens to it.
    setMaxListeners(0, this.signal);
    this.#start();
  }

  /** The failure that stops the turn here, if one does. */
  get exceeded(): Failure | undefined {
    const { reached } = this;
    return reached === undefined ? (this.#stopped ?? this.#repeated) : limitFailure(reached);
  }

  /** The limit that is reached, if one is. */
  get reached(): ReachedLimit | undefined {
    const { steps, seconds, tokens, cost, answerBytes, turnBytes } = this.#limits;
    if (this.#isTimeOver) return { key: "seconds", limit: seconds, used: seconds };
    // These stop the turn for another reason.
    if (this.#stopped !== undefined || this.#repeated !== undefined) return undefined;
    if (this.#isAnswerTooLong) return { key: "answerBytes", limit: answerBytes, used: this.#answerBytes };
    if (this.#bytes >= turnBytes) return { key: "turnBytes", limit: turnBytes, used: this.#bytes };
    if (this.#steps >= steps) return { key: "steps", limit: steps, used: this.#steps };
    if (this.#tokens >= tokens) return { key: "tokens", limit: tokens, used: this.#tokens };
    if (cost !== undefined && this.#usd >= cost) return { key: "cost", limit: cost, used: this.#usd };
    return undefined;
  }

  get approvalMs(): number {
    return this.#limits.approvalSeconds * 1000;
  }

  /** Maximum bytes of the next answer. */
  get answerBytes(): number {
    return Math.min(this.#limits.answerBytes, this.#limits.turnBytes - this.#bytes);
  }

  /** Whether an answer was stopped for its length. */
  get isOverBytes(): boolean {
    return this.#isAnswerTooLong || this.#bytes > this.#limits.turnBytes;
  }

  /** Counts the bytes of an answer; a stopped answer has more bytes than its limit. */
  receive(bytes: number): void {
    this.#isAnswerTooLong = bytes > this.#limits.answerBytes;
    this.#answerBytes = bytes;
    this.#bytes += bytes;
    if (this.isOverBytes) this.#controller.abort();
  }

  /** Counts one model call with its tokens, and its cost if the price is known. */
  spend(tokens: number, usd = 0): void {
    this.#steps += 1;
    this.#usd += usd;
    this.#tokens += tokens;
    this.#failedInStep.clear();
  }

  /** Ends the turn after the calls that run now, because a hook says so. */
  stop(reason: string): void {
    this.#stopped ??= { code: "aborted", message: `the turn was stopped by a hook: ${reason}`, retryable: false };
  }

  /** Counts calls that fail repeatedly. */
  callEnded({ name, args, success, output }: EndedCall): void {
    const key = createHash("sha256").update(`${name}\n${args}`).digest("base64");
    if (success) return this.#callSucceeded(key);
    if (this.#failedInStep.has(key)) return;
    this.#failedInStep.add(key);
    const count = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, count);
    if (count === this.#limits.identicalFailures) this.#repeated ??= repeatedFailure(name, count, output);
  }

  /**
   * Only a call that has not succeeded before in this turn counts as progress: a loop repeats its successful calls too.
   */
  #callSucceeded(key: string): void {
    if (this.#succeeded.has(key)) return;
    this.#succeeded.add(key);
    this.#failures.clear();
  }

  /** Stops the clock while `work` runs, for example while the user decides. */
  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await work();
    } finally {
      this.#start();
    }
  }

  [Symbol.dispose](): void {
    this.#turn.removeEventListener("abort", this.#abort);
    this.#stop();
  }

  #start(): void {
    this.#startedAt = performance.now();
    // Unreferenced, so that it does not keep an otherwise idle process alive.
    this.#timer = setTimeout(() => this.#end(), this.#leftMs).unref();
  }

  #end(): void {
    this.#isTimeOver = true;
    this.#controller.abort();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#startedAt));
  }
}

function repeatedFailure(name: string, count: number, output: string): Failure {
  const reason = shortened(output.trimStart().split("\n", 1)[0] ?? "", maxReasonChars);
  const message =
    `the turn was stopped because ${name} failed ${counted(count, "time")} in a row with the same arguments: ` +
    `${reason}; to allow more: cody config set turnLimits.identicalFailures <number>, 0 for no limit`;
  return { code: "limit_reached", message, retryable: false };
}

/** The words for a limit in a message. */
const limitTexts = {
  steps: (limit) => counted(limit, "step"),
  seconds: (limit) => `${counted(limit, "second")} of work`,
  tokens: (limit) => counted(limit, "token"),
  cost: (limit) => `$${limit} for model calls`,
  answerBytes: (limit) => `${counted(limit, "byte")} in one answer`,
  turnBytes: (limit) => `${counted(limit, "byte")} of answers`,
} satisfies { readonly [K in ReachedLimit["key"]]: (limit: number) => string };

function limitFailure({ key, limit }: ReachedLimit): Failure {
  const change = `cody config set turnLimits.${key} <number>`;
  const message = `the turn was stopped at its limit of ${limitTexts[key](limit)}; to allow more: ${change}`;
  return { code: "limit_reached", message, retryable: false };
}

/** Adds the usage of a model call to the totals, with its cost where the price is known. */
export function usageInfo(
  before: TokenUsageInfo | null,
  usage: TokenUsage,
  price: ModelPrice | undefined,
): TokenUsageInfo {
  const total_token_usage = addUsage(before?.total_token_usage ?? noTokens, usage);
  const spent = before?.cost?.total_usd;
  if (price === undefined && spent === undefined) return { total_token_usage, last_token_usage: usage };
  const last_usd = price === undefined ? 0 : costOf(usage, price);
  return { total_token_usage, last_token_usage: usage, cost: { last_usd, total_usd: (spent ?? 0) + last_usd } };
}

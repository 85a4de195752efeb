import { createHash } from "node:crypto";
import type { Conversation } from "../actors/conversation/handle.js";
import type { NewConversation } from "../actors/conversation/open/manager-options.js";
import { contextKind, isRealUserMessage } from "../base/codex/context-message.js";
import { isInterruptedOutput } from "../base/codex/interrupted-output.js";
import { errorMessage } from "../base/error-message.js";
import { ConversationNotFoundError, InvalidInputError } from "../base/errors.js";
import { check } from "../base/parse.js";
import { BatchTask, type BatchResult } from "../messages/batch.js";
import type { ConversationConfig, ResumeConfig } from "../messages/settings/conversation-config.js";
import { FailureError } from "../messages/failure-error.js";
import type { Event } from "../messages/event.js";
import { messageText, type ResponseItem } from "../messages/response-item.js";

const defaultConcurrency = 4;
const maxConcurrency = 1_000;

const continueText = "The previous turn was interrupted before it ended. Continue with the task.";
const rejection = "it needs approval, and nobody can be asked in a batch";

export interface BatchOptions {
  /** The number of tasks that run at the same time; 4 by default. */
  readonly concurrency?: number;
  /** The settings of the conversations, where a task has none of its own. */
  readonly conversation?: ConversationConfig;
  /** Tasks started by an earlier run, by key: they continue in their conversations. */
  readonly started?: ReadonlyMap<string, string>;
  /** Called before a task begins. To survive a crash, record both durably, and pass them as `started` next time. */
  readonly onStart?: (key: string, conversationId: string) => Promise<void> | void;
  /** Called with every event of a running task. */
  readonly onEvent?: (key: string, event: Event) => void;
  /** No further task begins once this much, in US dollars, was spent. */
  readonly maxCostUsd?: number;
  /** Aborting it interrupts the running tasks, which get no result. */
  readonly signal?: AbortSignal;
}

/** The part of the manager that a batch uses. */
interface BatchManager {
  newId(): string;
  newConversation(config: ConversationConfig): Promise<NewConversation>;
  resumeConversation(id: string, config: ResumeConfig): Promise<Conversation>;
}

/** A task with its key. */
export type KeyedTask = BatchTask & { readonly key: string };

/** Checks the tasks and gives each a key; a task that occurs twice gets a number behind its key. */
export function keyedTasks(tasks: readonly BatchTask[]): KeyedTask[] {
  const counts = new Map<string, number>();
  const named = new Set<string>();
  return tasks.map((given, index) => {
    const task = check(BatchTask, given, `task ${index + 1}`);
    if (task.key !== undefined) {
      if (named.has(task.key)) throw new InvalidInputError(`task ${index + 1}: the key ${task.key} occurs twice`);
      named.add(task.key);
      return { ...task, key: task.key };
    }
    const hash = createHash("sha256").update(JSON.stringify(task)).digest("hex").slice(0, 16);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    return { ...task, key: count === 1 ? hash : `${hash}-${count}` };
  });
}

/** Runs each task in a conversation of its own; yields the results in the order in which the tasks end. */
export async function* runBatch(
  manager: BatchManager,
  tasks: readonly BatchTask[],
  options: BatchOptions = {},
): AsyncGenerator<BatchResult> {
  const { concurrency = defaultConcurrency, maxCostUsd = Infinity, signal } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency) {
    throw new InvalidInputError(`concurrency: expected a whole number from 1 to ${maxConcurrency}`);
  }
  const waiting = keyedTasks(tasks);
  const running = new Map<string, Promise<{ readonly key: string; readonly result: BatchResult | undefined }>>();
  let spent = 0;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) stop.abort();
  const mayBegin = (): boolean => running.size < concurrency && spent < maxCostUsd && !stop.signal.aborted;
  try {
    for (;;) {
      while (mayBegin()) {
        const task = waiting.shift();
        if (task === undefined) break;
        const { key } = task;
        running.set(
          key,
          new TaskRun(manager, task, options, stop.signal).play().then((result) => ({ key, result })),
        );
      }
      if (running.size === 0) return;
      const { key, result } = await Promise.race(running.values());
      running.delete(key);
      if (result === undefined) continue;
      spent += result.cost_usd ?? 0;
      yield result;
    }
  } finally {
    // The caller has left, or a task threw: nothing may go on behind its back.
    stop.abort();
    signal?.removeEventListener("abort", onAbort);
    await Promise.allSettled(running.values());
  }
}

/** One task on its way to a result. */
class TaskRun {
  readonly #manager: BatchManager;
  readonly #task: KeyedTask;
  readonly #options: BatchOptions;
  readonly #signal: AbortSignal;

  constructor(manager: BatchManager, task: KeyedTask, options: BatchOptions, signal: AbortSignal) {
    this.#manager = manager;
    this.#task = task;
    this.#options = options;
    this.#signal = signal;
  }

  /** Resolves with undefined when the batch was stopped. */
  async play(): Promise<BatchResult | undefined> {
    const earlier = this.#options.started?.get(this.#task.key);
    const id = earlier ?? this.#manager.newId();
    let conversation: Conversation | undefined;
    try {
      if (earlier === undefined) await this.#options.onStart?.(this.#task.key, id);
      conversation = await this.#open(id, earlier !== undefined);
      return await this.#playIn(conversation);
    } catch (error) {
      if (this.#signal.aborted) return undefined;
      return this.#result(conversation, { status: "failed", answer: null, error: errorMessage(error), attempts: 0 });
    } finally {
      await conversation?.shutdown();
    }
  }

  async #open(id: string, wasStarted: boolean): Promise<Conversation> {
    const { cwd, provider, api, model, effort } = this.#task;
    const own = Object.entries({ cwd, provider, api, model, effort }).filter(([, value]) => value !== undefined);
    const config = { ...this.#options.conversation, ...Object.fromEntries(own) } as ConversationConfig;
    if (wasStarted) {
      try {
        return await this.#manager.resumeConversation(id, { ...config, allowEmpty: true });
      } catch (error) {
        // The run before ended before the conversation was created.
        if (!(error instanceof ConversationNotFoundError)) throw error;
      }
    }
    return (await this.#manager.newConversation({ ...config, id })).conversation;
  }

  async #playIn(conversation: Conversation): Promise<BatchResult | undefined> {
    using _ = this.#watched(conversation);
    const before = progressOf(await conversation.readHistory());
    let attempts = before.attempts;
    if (before.state === "unknown" && this.#task.onUnknown !== "retry") {
      const error = "a tool call was interrupted, and its result is unknown";
      return this.#result(conversation, { status: "needs_attention", answer: null, error, attempts });
    }
    if (before.state === "answered") {
      return this.#result(conversation, { status: "done", answer: before.answer, attempts });
    }
    let text = before.state === "new" ? this.#task.prompt : continueText;
    for (let left = this.#task.retries ?? 0; ; left -= 1) {
      try {
        attempts += 1;
        const items = await conversation.processMessage(text, {
          approve: () => Promise.resolve({ denied: { rejection } }),
          ...(this.#task.schema === undefined ? {} : { outputSchema: this.#task.schema }),
        });
        if (this.#signal.aborted) return undefined;
        return this.#result(conversation, { status: "done", answer: lastAnswer(items), attempts });
      } catch (error) {
        if (this.#signal.aborted) return undefined;
        const isFinal = left <= 0 || (error instanceof FailureError && error.code === "limit_reached");
        if (isFinal) {
          return this.#result(conversation, { status: "failed", answer: null, error: errorMessage(error), attempts });
        }
        text = continueText;
      }
    }
  }

  /** Interrupts the conversation when the batch is stopped, and reports its events. */
  #watched(conversation: Conversation): Disposable {
    const interrupt = (): void => void conversation.interrupt().catch(() => undefined);
    this.#signal.addEventListener("abort", interrupt, { once: true });
    const { onEvent } = this.#options;
    const events = onEvent === undefined ? undefined : conversation.events();
    if (events !== undefined) void this.#report(events);
    return {
      [Symbol.dispose]: () => {
        this.#signal.removeEventListener("abort", interrupt);
        void events?.return?.();
      },
    };
  }

  async #report(events: ReturnType<Conversation["events"]>): Promise<void> {
    for await (const event of events) this.#options.onEvent?.(this.#task.key, event);
  }

  #result(
    conversation: Conversation | undefined,
    end: Pick<BatchResult, "status" | "answer" | "attempts"> & { readonly error?: string },
  ): BatchResult {
    const usage = conversation?.usage ?? undefined;
    const { input_tokens: input = 0, output_tokens: output = 0 } = usage?.total_token_usage ?? {};
    const cost = usage?.cost?.total_usd;
    return {
      key: this.#task.key,
      ...(conversation === undefined ? {} : { conversation_id: conversation.id }),
      ...end,
      tokens: { input, output },
      ...(cost === undefined ? {} : { cost_usd: cost }),
    };
  }
}

/** How far an earlier run got with a task, as its history shows. */
interface Progress {
  /** `unknown`: a call was interrupted and its result is unknown; `interrupted`: the last turn did not end. */
  readonly state: "new" | "answered" | "interrupted" | "unknown";
  readonly answer: string | null;
  readonly attempts: number;
}

function progressOf(history: readonly ResponseItem[]): Progress {
  const inputs = history.flatMap((item, index) => (isRealUserMessage(item) ? [index] : []));
  const last = inputs.at(-1);
  if (last === undefined) return { state: "new", answer: null, attempts: 0 };
  const turn = history.slice(last + 1);
  const attempts = inputs.length;
  if (turn.some(isInterrupted)) return { state: "unknown", answer: null, attempts };
  const answer = lastAnswer(turn);
  const isEnded = answer !== null && !turn.some(isAbortNote) && turn.at(-1)?.type === "message";
  return isEnded ? { state: "answered", answer, attempts } : { state: "interrupted", answer: null, attempts };
}

function isAbortNote(item: ResponseItem): boolean {
  return contextKind(item) === "<turn_aborted>";
}

function isInterrupted(item: ResponseItem): boolean {
  return "output" in item && typeof item.output === "string" && isInterruptedOutput(item.output);
}

function lastAnswer(items: readonly ResponseItem[]): string | null {
  const message = items.findLast((item) => item.type === "message" && item.role === "assistant");
  return message?.type === "message" ? messageText(message) : null;
}

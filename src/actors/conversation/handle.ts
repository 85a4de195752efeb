import { InvalidInputError } from "../../base/errors.js";
import { check } from "../../base/parse.js";
import { conversationName } from "../../base/text/conversation-name.js";
import { newestTurns } from "../../compaction/cut/newest-turns.js";
import { estimateItemTokens } from "../../compaction/tokens/estimate-tokens.js";
import type { ConversationOp, InputAnswer, InputOp, Settings, UndoReport } from "../../messages/actors/conversation.js";
import type { CompactionOutcome, CompactionPreview, ContextUsage } from "../../messages/compaction.js";
import { type Event, isApprovalMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import { FailureCode, type Failure } from "../../messages/failure.js";
import type { OutputSchema } from "../../messages/output-schema.js";
import {
  type ResponseItem,
  ResponseItem as ResponseItemSchema,
  codexItems,
  type PlainItem,
  plainItems,
} from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/actors/rollout-writer.js";
import { Op } from "../../messages/submission.js";
import type { TokenUsageInfo, TokenUsage } from "../../messages/token-usage.js";
import {
  type ApprovalRequest,
  type ReviewDecision,
  ReviewDecision as ReviewDecisionSchema,
} from "../../messages/tools/approval.js";
import type { UserInput } from "../../messages/user-input.js";
import { isRetryable } from "../../providers/failures/answer-error.js";
import { type HistoryMessage, messagesOf, type ToolCallRecord, toolCallsOf } from "../../rollouts/history-messages.js";
import type { HandleServers } from "../mcp/handle-servers.js";
import { type EventReader, sharedReader } from "../runtime/event-queue.js";
import type { ConversationChannel } from "./channel.js";
import { toOp, inlineImages, toInputOp, jsonCopy } from "./conversation-op.js";
import type { TurnView } from "./mirror.js";

/** Codes of temporary problems: other work is running, or the disk has no room. */
const temporaryCodes: ReadonlySet<FailureCode> = new Set(["busy", "not_saved"]);

/** Decides on approval requests; if it throws, the turn is stopped and `processMessage` rejects. */
export type Approve = (request: ApprovalRequest) => ReviewDecision | Promise<ReviewDecision>;

const denyAll: Approve = () => ({
  denied: { rejection: "it needs approval, and approvals are not available in this run" },
});

export interface InputOptions {
  /** The same key twice is accepted once, also after a restart. */
  readonly key?: string;
  /** Whether the input holds text that the user did not write. */
  readonly outsideContent?: boolean;
}

/** `id` is the id that the input's events carry; for a duplicate that of the first submission with its key. */
export type SubmittedInput = Exclude<InputAnswer, { status: "refused" }>;

/** The caller's handle to a conversation: submissions in, events out. */
export class Conversation implements AsyncDisposable {
  readonly id: string;
  /** The path of the rollout; null when the conversation is not saved. */
  readonly rolloutPath: string | null;
  /** A notice for the user before the first turn, for example that no key was found. */
  readonly notice: string | undefined;
  /** The conversation's turns and messages. */
  readonly history: ConversationHistory;
  readonly #channel: ConversationChannel;
  readonly #own: EventReader<Event>;
  /** Each submission waits for the one before, so that an image that takes time to read is not overtaken. */
  #submitted: Promise<unknown> | undefined;

  /** Only the manager creates one. */
  constructor(channel: ConversationChannel, parts: HistoryParts) {
    this.id = channel.id;
    this.rolloutPath = channel.mirror.rolloutPath;
    this.notice = channel.mirror.notice;
    this.history = new ConversationHistory(channel, parts);
    this.#channel = channel;
    this.#own = channel.reader({ since: 0 });
  }

  /** The conversation's name, if it has one. */
  get name(): string | undefined {
    return this.#channel.mirror.name;
  }

  /** Sets the name: 1 to 100 printable characters. Resolves when the name is on disk or could not be saved. */
  async rename(name: string): Promise<SaveOutcome> {
    return await this.#channel.ask({ type: "rename", name: conversationName(name) });
  }

  /** Whether it is kept when old conversations are cleaned up. */
  get pinned(): boolean {
    return this.#channel.mirror.pinned;
  }

  /**
   * Sets whether it is kept when old conversations are cleaned up; not to be confused with `pin`, which pins a message.
   */
  async setPinned(pinned: boolean): Promise<SaveOutcome> {
    return await this.#channel.ask({ type: "set_pinned", pinned });
  }

  /** Publishes a warning that concerns more than this conversation. */
  warn(message: string): void {
    this.#channel.publish({ type: "warning", message }, "");
  }

  /** The settings of the next turn. */
  get settings(): Settings {
    return this.#channel.mirror.settings;
  }

  /** Number of turns begun since its first line. */
  get turns(): number {
    return this.#channel.mirror.turns;
  }

  /** Tokens of the last model call and in total; null before the first. */
  get usage(): TokenUsageInfo | null {
    return this.#channel.mirror.usage;
  }

  /** The running turn, or the last one. */
  get turn(): Readonly<TurnView> | undefined {
    return this.#channel.mirror.turn;
  }

  /** The turn that has begun and not ended; right after a resume, one that waits for an approval and continues. */
  get openTurn(): { readonly turnId: string } | undefined {
    const { openTurn } = this.#channel.mirror;
    return openTurn === undefined ? undefined : { turnId: openTurn };
  }

  /** Whether a call waits for the user's approval. */
  awaitsApproval(callId: string): boolean {
    return this.#channel.mirror.awaitsApproval(callId);
  }

  /**
   * Queues user input or any other op; resolves with the id that its events will carry. Rejects with a `FailureError`
   * when it answers an approval request that is not open.
   */
  async submit(input: string | readonly UserInput[] | Op): Promise<string> {
    return await this.#inOrder(toOp(input), (op) => this.#send(op));
  }

  /** Checks an op and sends it after those submitted before. */
  async #inOrder<T>(input: unknown, send: (op: ConversationOp) => Promise<T>): Promise<T> {
    const op = inlineImages(check(Op, input, "submission"), this.settings.cwd);
    const before = this.#submitted;
    const submitted = (async () => {
      await before;
      return await send(await op);
    })();
    // The next submission does not depend on whether this one was refused.
    const settled = submitted.then(ignore, ignore);
    this.#submitted = settled;
    try {
      return await submitted;
    } finally {
      if (this.#submitted === settled) this.#submitted = undefined;
    }
  }

  /**
   * Adds a message to the running turn: the model gets it with its next call. Without a turn it begins one, and if the
   * turn ends before, it begins the next. Rejects with a `FailureError` when it is refused.
   */
  async steer(input: string | readonly UserInput[], options: InputOptions = {}): Promise<SubmittedInput> {
    return await this.#submitInput("steer", input, options);
  }

  /** Begins a turn after the running one and those queued before. Rejects with a `FailureError` when it is refused. */
  async queue(
    input: string | readonly UserInput[],
    options: InputOptions & { readonly outputSchema?: OutputSchema } = {},
  ): Promise<SubmittedInput> {
    return await this.#submitInput("queue", input, options);
  }

  /** Takes back an input that waits for its turn or its place in one; resolves with whether it had not begun. */
  async withdraw(id: string): Promise<boolean> {
    return (await this.#channel.ask({ type: "withdraw", submission_id: id })) === "withdrawn";
  }

  async #submitInput(
    type: "steer" | "queue",
    input: string | readonly UserInput[],
    { key, outsideContent, outputSchema }: InputOptions & { readonly outputSchema?: OutputSchema },
  ): Promise<SubmittedInput> {
    const items = typeof input === "string" ? [{ type: "text", text: input }] : input;
    const op = {
      type,
      items,
      ...(outsideContent === undefined ? {} : { outside_content: outsideContent }),
      ...(key === undefined ? {} : { key }),
      ...(outputSchema === undefined ? {} : { final_output_json_schema: outputSchema }),
    };
    const answer = await this.#inOrder(op, (checked) => this.#channel.submitInput(checked as InputOp));
    if (answer.status === "refused") throw refusalError(answer.code, answer.message);
    return answer;
  }

  async #send(op: ConversationOp): Promise<string> {
    if ("items" in op && "key" in op) return (await this.#channel.submitInput(op)).id;
    if (op.type !== "exec_approval" && op.type !== "patch_approval") return await this.#channel.submit(op);
    const { id, answer } = await this.#channel.decide(op);
    if (answer.status === "rejected") throw refusalError("invalid_request", answer.message);
    return id;
  }

  /** Returns the next unread event; rejects when the conversation has ended. */
  async nextEvent(): Promise<Event> {
    const result = await this.#own.next();
    if (result.done === true) throw endedError(this.id);
    return result.value;
  }

  /**
   * Iterates over unread events, starting with `session_configured`. The position is shared with `nextEvent` and kept
   * when a loop is left. With `since` it is a separate reader that starts at that number, or now.
   *
   * A reader that is far behind misses events and gets `lagged` instead. With `lossless` it misses none: the model's
   * answer is read only as fast as the events are, until the loop is left.
   */
  events(options: { readonly since?: number | "now"; readonly lossless?: boolean } = {}): AsyncIterableIterator<Event> {
    const { since, lossless = false } = options;
    if (since === undefined) return sharedReader(this.#own, lossless);
    if (since !== "now" && (!Number.isInteger(since) || since < 0)) {
      throw new InvalidInputError("since: expected the number of an event, or now");
    }
    const reader = this.#channel.reader(since === "now" ? {} : { since });
    if (lossless) reader.setLossless(true);
    return reader;
  }

  /** The items belong to the conversation: copy one before changing it. */
  getHistory(): ResponseItem[];
  /** With `content: "text"` every text part has the type `text`, as in the seed documents. */
  getHistory(options: { readonly content: "text" }): PlainItem[];
  getHistory(options?: { readonly content: "text" }): ResponseItem[] | PlainItem[] {
    const { history } = this.#channel.state();
    return options === undefined ? [...history] : plainItems(history);
  }

  /** Returns the history without blocking, wherever the conversation runs. */
  async readHistory(): Promise<ResponseItem[]> {
    return await this.#channel.ask({ type: "read_history" });
  }

  /** Returns the system prompt, which precedes the history, as an item. */
  getInitialContext(): ResponseItem[] {
    const text = this.#channel.mirror.prompt;
    return [{ type: "message", role: "developer", content: [{ type: "input_text", text }] }];
  }

  /**
   * Replaces the history and nothing else; the rollout keeps every line. System messages become developer messages.
   * Rejects while a turn runs.
   */
  async replaceHistory(items: readonly (ResponseItem | PlainItem)[]): Promise<void> {
    if (!Array.isArray(items)) throw new InvalidInputError("history: expected an array of items");
    const copies = codexItems(jsonCopy(items, "history"));
    const checked = copies.map((item, index) => withoutSystemRole(check(ResponseItemSchema, item, `item ${index}`)));
    const answer = await this.#channel.ask({ type: "replace_history", items: checked });
    if (answer === "busy") throw refusalError("busy", "history cannot be replaced while a turn runs");
  }

  /**
   * Runs one turn; resolves with its items when it has ended, and rejects when it was refused or has failed. Approval
   * requests go to `approve` and are denied without it; to answer them from the events, use `submit`. With an
   * `outputSchema` the last answer is JSON that matches it.
   */
  async processMessage(
    input: string | readonly UserInput[],
    options: { readonly approve?: Approve; readonly outputSchema?: OutputSchema } = {},
  ): Promise<ResponseItem[]> {
    const events = this.#channel.reader({});
    try {
      const id = await this.submit(toInputOp(input, options.outputSchema));
      return await collectTurnItems(events, id, this.id, (request) =>
        this.#answer(request, options.approve ?? denyAll),
      );
    } finally {
      await events.return();
    }
  }

  /** Always answers the request, even if `approve` throws, because nothing else would. */
  async #answer(request: ApprovalRequest, approve: Approve): Promise<void> {
    let decision: ReviewDecision = "abort";
    try {
      decision = check(ReviewDecisionSchema, await approve(request), "decision");
    } finally {
      // The turn may have ended meanwhile: then no request is open, and `collectTurnItems` sees the end.
      await this.submit({ type: "exec_approval", id: request.approval_id, decision }).catch(ignoreClosedRequest);
    }
  }

  /** The approval requests that wait for an answer. */
  get pendingApprovals(): ApprovalRequest[] {
    return this.#channel.onLagged().flatMap(({ msg }): ApprovalRequest[] => {
      if (!isApprovalMsg(msg)) return [];
      const { type: _, ...request } = msg;
      return [request];
    });
  }

  /**
   * Answers an approval request. Resolves when the turn has applied the decision; rejects with a `FailureError` when the
   * request is not open, was answered before, or is about a command that has changed since.
   */
  async answerApproval(approvalId: string, decision: ReviewDecision): Promise<void> {
    const answer = await this.#channel.answerApproval(approvalId, check(ReviewDecisionSchema, decision, "decision"));
    if (answer.status === "rejected") throw refusalError("invalid_request", answer.message);
  }

  /** Resolves when everything recorded so far is on disk, or could not be saved. */
  async flush(): Promise<SaveOutcome> {
    return this.isAwake ? await this.#channel.ask({ type: "flush" }) : { status: "saved" };
  }

  async interrupt(): Promise<void> {
    await this.submit({ type: "interrupt" });
  }

  /** Interrupts the running turn and withdraws the inputs that wait; resolves with what it found. */
  async stop(): Promise<{ readonly interrupted: boolean; readonly withdrawn: number }> {
    return this.isAwake || this.openTurn !== undefined
      ? await this.#channel.ask({ type: "stop" })
      : { interrupted: false, withdrawn: 0 };
  }

  /** Replaces old items with a summary now; resolves with the outcome. */
  async compact(
    options: { readonly instructions?: string; readonly strategy?: string } = {},
  ): Promise<CompactionOutcome> {
    const op = check(Op, { type: "compact", ...options }, "compact") as Extract<Op, { type: "compact" }>;
    return await this.#channel.ask(op);
  }

  /** Restores the history before the last compaction, plus the items since. */
  async undoCompaction(): Promise<CompactionOutcome> {
    return await this.#channel.ask({ type: "undo_compaction" });
  }

  /** Restores the files to their state before the last turn that changed any; refused while a turn runs. */
  async undo(): Promise<UndoReport> {
    return await this.#channel.ask({ type: "undo" });
  }

  /** Adds a message that survives every compaction. */
  async pin(text: string): Promise<void> {
    await this.submit({ type: "pin", text });
  }

  /** Returns what `compact` would do, without asking a model. Rejects for an unknown strategy. */
  async previewCompaction(options: { readonly strategy?: string } = {}): Promise<CompactionPreview> {
    return valueOf(await this.#channel.ask({ type: "preview_compaction", ...options }));
  }

  /** Returns a summary of some items by the conversation's model; empty when it made none. Nothing is changed. */
  async summarize(items: readonly (ResponseItem | PlainItem)[]): Promise<string> {
    return valueOf(await this.#channel.ask({ type: "summarize", items: codexItems(jsonCopy(items, "items")) }));
  }

  /** Returns the model's current context, item by item. */
  async contextUsage(): Promise<ContextUsage> {
    return valueOf(await this.#channel.ask({ type: "context_usage" }));
  }

  /** Its MCP servers, with their tools, resources and prompts; undefined when it has none. To ask them wakes it. */
  get servers(): HandleServers | undefined {
    return this.#channel.servers;
  }

  /** Whether it is open. An idle conversation sleeps: its file is closed, and the next submission opens it again. */
  get isAwake(): boolean {
    return this.#channel.isAwake;
  }

  /** Opens it again if it sleeps; most methods do that themselves. Rejects when another process has opened it. */
  async wake(): Promise<void> {
    await this.#channel.wake();
  }

  /** Lets it sleep now; resolves with false when it is working, or cannot be opened again because it is not saved. */
  async sleep(): Promise<boolean> {
    return await this.#channel.sleep();
  }

  /**
   * Closes it without ending a turn that waits for an approval: whoever resumes it is asked again. Resolves with false
   * when it is working, or is not saved.
   */
  async release(): Promise<boolean> {
    return await this.#channel.release();
  }

  /** Resolves when the conversation has ended; undefined unless it is ending. */
  get ending(): Promise<void> | undefined {
    return this.#channel.ending;
  }

  /** Ends the running turn, saves, releases the rollout and ends the events. */
  shutdown(): Promise<void> {
    return this.#channel.shutdown();
  }

  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}

/** Codex reads no system messages from a rollout; a developer message has the same effect. */
function withoutSystemRole(item: ResponseItem): ResponseItem {
  return item.type === "message" && item.role === "system" ? { ...item, role: "developer" } : item;
}

function ignoreClosedRequest(error: unknown): void {
  if (!(error instanceof FailureError) || error.code !== "invalid_request") throw error;
}

function ignore(): void {}

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw result.failure.code === "invalid_request"
    ? new InvalidInputError(result.failure.message)
    : new FailureError(result.failure);
}

/** Collects the items of the turn that a submission began; rejects when it was refused or has failed. */
async function collectTurnItems(
  events: AsyncIterable<Event>,
  id: string,
  conversationId: string,
  answer: (request: ApprovalRequest) => Promise<void>,
): Promise<ResponseItem[]> {
  const items: ResponseItem[] = [];
  let started = false;
  for await (const { msg, id: cause } of events) {
    if (cause !== id) continue;
    if (msg.type === "task_started") started = true;
    else if (isApprovalMsg(msg)) await answer(msg);
    else if (msg.type === "raw_response_item") items.push(msg.item as ResponseItem);
    else if (msg.type === "error" && !started) throw refusalError(codeOf(msg.codex_error_info) ?? "busy", msg.message);
    else if (msg.type === "turn_aborted") return items;
    else if (msg.type === "task_complete") {
      if (msg.error === undefined || msg.error === null) return items;
      throw refusalError(codeOf(msg.error.codex_error_info) ?? "internal", msg.error.message);
    }
  }
  throw endedError(conversationId);
}

function refusalError(code: FailureCode, message: string): FailureError {
  return new FailureError({ code, message, retryable: temporaryCodes.has(code) || isRetryable(code) });
}

function codeOf(info: unknown): FailureCode | undefined {
  return FailureCode.safeParse(info).data;
}

function endedError(conversationId: string): FailureError {
  return refusalError("actor_stopped", `conversation ${conversationId} has ended: there are no more events`);
}

export interface CompletedTurn {
  /** Null for a turn without an id in the rollout, and for the remains of compacted turns. */
  readonly turn_id: string | null;
  readonly messages: readonly HistoryMessage[];
  readonly tool_calls: readonly ToolCallRecord[];
  /** Total token usage of its model calls. */
  readonly token_usage: TokenUsage;
  /** Its start time, in UTC. */
  readonly timestamp: string;
}

/** The same for all conversations of a manager. */
export interface HistoryParts {
  readonly maxTurns: number;
  readonly countTokens: (text: string) => number;
}

/** The history as the model sees it, turn by turn. Computed on each access; its JSON has three fields. */
export class ConversationHistory {
  readonly #channel: ConversationChannel;
  readonly #parts: HistoryParts;

  constructor(channel: ConversationChannel, parts: HistoryParts) {
    this.#channel = channel;
    this.#parts = parts;
  }

  /** The newest completed turns; older ones are in the rollout. */
  get turns(): CompletedTurn[] {
    const { history, turnStarts: marks, openTurn } = this.#channel.state();
    const ended = marks.flatMap((mark, index) =>
      openTurn !== undefined && mark.id === openTurn.id ? [] : [{ ...mark, to: marks[index + 1]?.from }],
    );
    return ended.slice(-this.#parts.maxTurns).map(({ id, timestamp, from, to, usage }) => {
      const items = history.slice(from, to);
      const content = { messages: messagesOf(items), tool_calls: toolCallsOf(items) };
      return { turn_id: id, ...content, token_usage: usage, timestamp };
    });
  }

  get max_turns(): number {
    return this.#parts.maxTurns;
  }

  /** Total token usage since the beginning, or since the history was cleared. */
  get total_tokens(): number {
    return this.#channel.mirror.usage?.total_token_usage.total_tokens ?? 0;
  }

  /** Returns the messages that the model would see now. */
  getMessagesForApi(): HistoryMessage[] {
    return messagesOf(this.#seen());
  }

  /** Estimates the tokens of these messages. */
  estimateTokens(): number {
    return estimateItemTokens(this.#seen(), (text) => this.#parts.countTokens(text));
  }

  /** Clears the history and the token counts; the rollout keeps every line. Rejects while a turn runs. */
  async clear(): Promise<void> {
    const answer = await this.#channel.ask({ type: "clear_history" });
    if (answer === "busy") throw refusalError("busy", "history cannot be cleared while a turn runs");
  }

  toJSON(): Pick<ConversationHistory, "turns" | "max_turns" | "total_tokens"> {
    return { turns: this.turns, max_turns: this.max_turns, total_tokens: this.total_tokens };
  }

  #seen() {
    return newestTurns(this.#channel.state().history, this.#parts.maxTurns);
  }
}

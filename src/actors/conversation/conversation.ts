import { InvalidInputError } from "../../base/errors.js";
import type {
  ConversationAnswers,
  ConversationMsg,
  ConversationOp,
  InputAnswer,
  InputOp,
  SleepMemory,
  UndoReport,
} from "../../messages/actors/conversation.js";
import type { CompactionOutcome } from "../../messages/compaction.js";
import { bareId } from "../../base/text/conversation-id.js";
import type { EventMsg } from "../../messages/event.js";
import { FailureError } from "../../messages/failure-error.js";
import type { Failure, FailureCode } from "../../messages/failure.js";
import type { SaveOutcome } from "../../messages/actors/rollout-writer.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { Op } from "../../messages/submission.js";
import { noTokens } from "../../messages/token-usage.js";
import { inputText } from "../../messages/user-input.js";
import type { Actor, Run } from "../runtime/actor.js";
import { Approvals } from "./calls/approvals.js";
import { type RunnableCallItem, unstartedCalls } from "./calls/call-items.js";
import { contextUsage, previewCompaction, summarizeItems } from "./compaction/context-usage.js";
import { runQueuedChange, undoChanges } from "./turn/between-turns.js";
import { noteCompactorEvent } from "./compaction/compaction.js";
import {
  type ConversationCell,
  hasEnded,
  type QueuedChange,
  type QueuedInput,
  type QueuedWork,
} from "./state/live-state.js";
import { applySettingsOp, onFailureNotice, type SettingsOp, toTurnContext } from "./state/settings.js";
import { continueTurn, runTurn } from "./turn/run-turn.js";
import { type Publish, Recording } from "./turn/recording.js";
import { notifyHooks } from "./turn/turn-hooks.js";
import type { ConversationContext, StartContext } from "./conversation-context.js";

/** Maximum number of inputs that wait while a turn runs; as many more may wait to be added to that turn. */
export const maxQueuedInputs = 32;

const megabyte = 1_000_000;

const shutdownRefusal: Refusal = { code: "actor_stopped", reason: "the conversation is shutting down" };

const withdrawnRefusal: Refusal = { code: "aborted", reason: "it was withdrawn before it began" };

const unsavedRefusal: Refusal = {
  code: "not_saved",
  reason: "not saved: too much data is waiting to be written; try again later",
};

const queueFullRefusal: Refusal = {
  code: "busy",
  reason: `too many queued inputs: at most ${maxQueuedInputs} can wait while a turn runs`,
};

interface ConversationOptions extends StartContext {
  /** The folder of a resumed or forked conversation, as recorded in its rollout. */
  readonly recordedCwd: string | undefined;
  /**
   * Whether a turn that waits for approval continues. Not for a copy or an unsaved conversation: two processes would
   * play it.
   */
  readonly continuesOpenTurn: boolean;
  /** Whether this process had it open before, so that the readers of its events know its open turn. */
  readonly isReopened: boolean;
  /** The source of outside content that the turn to continue has read; null if it has read none. */
  readonly outsideSource: string | null | undefined;
  /** Above this file length no new work begins. */
  readonly maxFileBytes: number;
  /** The notices about instruction files that the user has seen. */
  readonly shownNotices: () => readonly string[];
  /** Adds the recorded name to the index used by lists. */
  indexName(): Promise<SaveOutcome>;
  /** Adds the recorded pin to the index used by lists. */
  indexPin(): Promise<SaveOutcome>;
}

type ApprovalOp = Extract<Op, { type: "exec_approval" | "patch_approval" }>;

type ApprovalAnswer = ConversationAnswers["exec_approval"];

type OwnMessage =
  { readonly type: "turn_ended"; readonly failure: Failure | undefined } | { readonly type: "servers_described" };

export const conversation: Actor<
  ConversationOp,
  ConversationAnswers,
  ConversationOptions,
  ConversationMsg,
  OwnMessage
> = {
  name: "conversation",
  start: (options, context) => {
    const { cell, rollout } = options;
    const publish: Publish = (msg, submissionId) => context.publish(msg, submissionId);
    const recording = new Recording(cell, rollout, () => options.now(), publish);
    const approvals = new Approvals({
      state: cell.state,
      rollout,
      recording,
      publish,
      isReopened: options.isReopened,
      now: () => options.now(),
      onAsked: (request, submissionId, signal) =>
        notifyHooks({ hooks: options.hooks, publish }, request, { settings: cell.settings, submissionId, signal }),
    });
    const conversationContext: ConversationContext = { ...options, recording, approvals, publish };
    let turn: Run | undefined;
    /** Whether the settings were changed and no turn has used them yet. */
    let hasUnusedSettings = false;
    let shuttingDown = false;
    /** Whether the servers are being asked for their tools. */
    let isListing = false;
    const turnEndWaiters: (() => void)[] = [];
    /** Resolvers of callers that wait for the outcome of a change, by submission. */
    const changeWaiters = new Map<string, (outcome: CompactionOutcome) => void>();

    function refuse(message: string, submissionId: string, code?: FailureCode): void {
      publish({ type: "error", message, ...(code === undefined ? {} : { codex_error_info: code }) }, submissionId);
    }

    function run(work: (signal: AbortSignal) => Promise<void>): void {
      turn = context.run(work, (failure) => ({ type: "turn_ended", failure }));
    }

    function begin(work: QueuedWork): void {
      cell.running = work;
      if (work.kind !== "input") return run((signal) => change(work, signal));
      if (work.settings === cell.settings) hasUnusedSettings = false;
      run((signal) => runTurn(conversationContext, work, signal));
    }

    async function change(work: QueuedChange, signal: AbortSignal): Promise<void> {
      const outcome = await runQueuedChange(conversationContext, work, signal);
      if (outcome !== undefined) answerChange(work.submissionId, outcome);
    }

    function answerChange(submissionId: string, outcome: CompactionOutcome): void {
      changeWaiters.get(submissionId)?.(outcome);
      changeWaiters.delete(submissionId);
    }

    function forgetInCompactor(): void {
      const { compaction, conversationId } = options;
      void compaction.compactor.tell({ type: "forget", conversationId }).catch(() => undefined);
    }

    /** A turn that waits for the user survives its process; any other turn is closed. */
    function settleOpenTurn(): void {
      const leftOver = options.continuesOpenTurn ? unstartedCalls(cell.state) : [];
      const before = cell.state.openTurn;
      const submissionId = cell.turn?.submissionId ?? (options.isReopened ? (before?.id ?? "") : "");
      recording.closeOpenTurn(cell.turn, leftOver, submissionId);
      const open = cell.state.openTurn;
      if (open === undefined) return;
      const { outsideSource } = options;
      run((signal) => continueTurn(conversationContext, { ...open, submissionId, leftOver, outsideSource }, signal));
    }

    function beginNext(): void {
      const next = cell.steered.shift() ?? cell.queue.shift();
      if (next !== undefined) begin(next);
    }

    function acceptInput(op: InputOp, submissionId: string): InputAnswer {
      const known = knownSubmission(cell, op.key, submissionId);
      if (known !== undefined && known !== submissionId) return { status: "duplicate", id: known };
      if (known !== undefined) return sentAgain(op, submissionId);
      if (op.type === "user_turn") changeSettings(op, submissionId);
      const { items, outside_content: isOutside = false, key } = op;
      const outputSchema = op.type === "steer" ? undefined : (op.final_output_json_schema ?? undefined);
      const isRecorded = key !== undefined || op.type === "steer" || op.type === "queue";
      const { settings } = cell;
      const parts = { submissionId, isRecorded, key, items, settings, outputSchema, isOutside };
      const refusal = enqueue({ kind: "input", ...parts }, op.type === "steer" ? cell.steered : cell.queue);
      if (refusal === undefined) return { status: "accepted", id: submissionId };
      return { status: "refused", id: submissionId, code: refusal.code, message: refusal.reason };
    }

    /** It is sent again when its thread has died. If it was recorded there, its event may be lost. */
    function sentAgain(op: InputOp, id: string): InputAnswer {
      const message = { type: "user_message", message: inputText(op.items), submission_id: id } as const;
      if (op.type === "steer" && cell.state.submissions.get(op.key ?? id) === id) publish(message, id);
      return { status: "accepted", id };
    }

    const input = (op: InputOp, _signal: AbortSignal, id: string): InputAnswer => acceptInput(op, id);

    function enqueue<T extends QueuedWork>(work: T, queue: T[]): Refusal | undefined {
      const refusal = refusalOf(queue);
      if (refusal !== undefined) refuseWork(work, refusal);
      else if (turn === undefined) begin(work);
      else queue.push(work);
      return refusal;
    }

    function refusalOf(queue: readonly QueuedWork[]): Refusal | undefined {
      if (shuttingDown) return shutdownRefusal;
      if (rollout.full) return unsavedRefusal;
      if (rollout.bytes > options.maxFileBytes) return fileTooLongRefusal(options.maxFileBytes);
      return turn === undefined || queue.length < maxQueuedInputs ? undefined : queueFullRefusal;
    }

    function refuseWork({ submissionId }: QueuedWork, { reason, code }: Refusal): void {
      refuse(reason, submissionId, code);
      answerChange(submissionId, { status: "kept", reason });
    }

    /** Resolves with the outcome once the queued change is done, for an ask; a tell is answered by events only. */
    function ask(work: QueuedChange): Promise<CompactionOutcome> {
      return new Promise((resolve) => {
        changeWaiters.set(work.submissionId, resolve);
        enqueue(work, cell.queue);
      });
    }

    /** Refused while a turn runs, because it may be writing the same files. */
    function undo(submissionId: string): UndoReport | Promise<UndoReport> {
      if (turn !== undefined || shuttingDown) {
        const report = { success: false, message: "Cannot undo while a turn is running" };
        publish({ type: "undo_completed", ...report }, submissionId);
        return report;
      }
      return new Promise((resolve) => run(async () => resolve(await undoChanges(conversationContext, submissionId))));
    }

    const unsupported = (op: ConversationOp, _signal: AbortSignal, id: string): void =>
      refuse(`"${op.type}" is not supported yet`, id);
    const answer = (op: ApprovalOp, _signal: AbortSignal, submissionId: string): ApprovalAnswer => {
      const approvalId = op.approval_id ?? op.id ?? "";
      const message = approvals.answer(approvalId, op.decision, submissionId);
      if (message === undefined) return { status: "answered" };
      refuse(message, submissionId);
      return { status: "rejected", message };
    };
    const changeSettings = (op: SettingsOp, id: string): void => {
      cell.settings = applySettingsOp(cell.settings, op);
      publish({ type: "mirror", change: { type: "settings", settings: cell.settings } }, id);
      hasUnusedSettings = true;
      if (op.approval_policy === "on-failure") publish({ type: "warning", message: onFailureNotice }, id);
    };

    /**
     * Records a change of settings before the next turn, so that it survives the process. While a turn runs, its own
     * settings are the recorded ones.
     */
    function rememberSettings(id: string): void {
      if (turn !== undefined || !hasUnusedSettings) return;
      hasUnusedSettings = false;
      recording.line({ type: "turn_context", payload: toTurnContext(cell.settings) }, id);
    }

    /** Whether the turn has published its end and is about to end. */
    function isEndingTurn(): boolean {
      if (turn === undefined || cell.turn === undefined || !hasEnded[cell.turn.status.status]) return false;
      return cell.running === undefined || cell.running.submissionId === cell.turn.submissionId;
    }

    function nextTurnEnd(): Promise<void> {
      return new Promise((resolve) => void turnEndWaiters.push(resolve));
    }

    /** A turn may only be waiting for the approval of a call that has not begun: the next opening asks again. */
    function canSleep(): boolean {
      if (shuttingDown || isListing || rollout.path === null) return false;
      if (cell.queue.length > 0 || cell.steered.length > 0) return false;
      // Otherwise a summary would be paid for twice.
      if (cell.preparation?.status === "running") return false;
      return turn === undefined || (approvals.deadline !== undefined && unstartedCalls(cell.state).length > 0);
    }

    async function savedThen(index: () => Promise<SaveOutcome>): Promise<SaveOutcome> {
      const saved = await rollout.flush();
      return saved.status === "saved" ? await index() : saved;
    }

    if (!cell.isStarted) {
      cell.isStarted = true;
      // The generations of an earlier opening say nothing about this history.
      if (cell.preparation === undefined) forgetInCompactor();
      if (!options.isReopened) publish(sessionConfigured(options), "");
      cell.shown = [];
    }
    options.servers?.begin((msg) => publish(msg, ""));
    settleOpenTurn();
    const lost = lostInput(cell);
    cell.running = undefined;
    if (lost !== undefined)
      refuse("the turn was lost because of an internal error; send the message again", lost.submissionId, "internal");
    if (turn === undefined) beginNext();

    return {
      user_input: input,
      user_turn: input,
      steer: input,
      queue: input,
      override_turn_context: (op, _signal, id) => {
        changeSettings(op, id);
        rememberSettings(id);
      },
      interrupt: () => turn?.abort(),
      exec_approval: answer,
      patch_approval: answer,
      answer_approval: ({ approval_id, decision }, _signal, id) => {
        const message = approvals.answer(approval_id, decision, id);
        return message === undefined ? approvals.applied(approval_id) : { status: "rejected", message };
      },
      stop: () => {
        const waiting = [...cell.steered.splice(0), ...cell.queue.splice(0)];
        for (const work of waiting) refuseWork(work, withdrawnRefusal);
        turn?.abort();
        return { interrupted: turn !== undefined, withdrawn: waiting.length };
      },
      withdraw: ({ submission_id }) => {
        for (const queue of [cell.steered, cell.queue]) {
          const place = queue.findIndex(({ submissionId }) => submissionId === submission_id);
          const [work] = place < 0 ? [] : queue.splice(place, 1);
          if (work === undefined) continue;
          refuseWork(work, withdrawnRefusal);
          return "withdrawn";
        }
        return "begun";
      },
      replace_history: ({ items }, _signal, id) => {
        // The history records what the running turn does, so it must not be lost.
        if (cell.state.openTurn !== undefined) return "busy";
        recording.line({ type: "cody", payload: { type: "history_replaced", items: [...items] } }, id);
        return "replaced";
      },
      compact: ({ instructions, strategy }, _signal, id) =>
        ask({ kind: "compact", submissionId: id, instructions, strategy }),
      undo_compaction: (_op, _signal, id) => ask({ kind: "undo_compaction", submissionId: id }),
      pin: ({ text }, _signal, id) => void enqueue({ kind: "pin", submissionId: id, text }, cell.queue),
      clear_history: (_op, _signal, id) => {
        if (cell.state.openTurn !== undefined) return "busy";
        recording.line({ type: "cody", payload: { type: "history_replaced", items: [] } }, id);
        // Counting continues from the last count, so a zero count restarts it.
        const info = { total_token_usage: noTokens, last_token_usage: noTokens };
        recording.line({ type: "event_msg", payload: { type: "token_count", info } }, id);
        return "cleared";
      },
      compactor_event: ({ event }) => noteCompactorEvent(cell, event),
      rename: ({ name }, _signal, id) => {
        recording.line({ type: "cody", payload: { type: "named", name } }, id);
        return savedThen(() => options.indexName());
      },
      set_pinned: ({ pinned }, _signal, id) => {
        recording.line({ type: "cody", payload: { type: "pinned", pinned } }, id);
        return savedThen(() => options.indexPin());
      },
      flush: () => rollout.flush(),
      sleep: async () => {
        if (isEndingTurn()) await nextTurnEnd();
        if (!canSleep()) return { status: "busy" };
        const saved = await rollout.flush();
        if (saved.status !== "saved" || !canSleep()) return { status: "busy" };
        shuttingDown = true;
        const memory = sleepMemory(options);
        if (memory.prepared === undefined) forgetInCompactor();
        recording.close();
        const { deadline } = approvals;
        return { status: "asleep", memory, ...(deadline === undefined ? {} : { wakeAfterMs: deadline - Date.now() }) };
      },
      read_history: () => [...cell.state.history],
      context_usage: () => resultOf(contextUsage(conversationContext)),
      preview_compaction: ({ strategy }) => resultOf(previewCompaction(conversationContext, strategy)),
      summarize: ({ items }) => resultOf(summaryText(conversationContext, items)),
      undo: (_op, _signal, id) => undo(id),
      review: unsupported,
      add_to_history: unsupported,
      get_history_entry_request: unsupported,
      list_mcp_tools: (_op, _signal, id) => {
        isListing = true;
        context.run(
          async (signal) => {
            const nothing = { tools: {}, resources: {}, resource_templates: {}, prompts: {} };
            await options.servers?.ready(signal);
            const described = (await options.servers?.describe(signal)) ?? nothing;
            publish({ type: "mcp_list_tools_response", ...described }, id);
          },
          () => ({ type: "servers_described" }),
        );
      },
      servers_described: () => void (isListing = false),
      list_custom_prompts: unsupported,
      run_user_shell_command: ({ command }, _signal, id) => {
        if (command.trim() === "") return refuse("the command is empty", id);
        const items = [{ type: "text" as const, text: `!${command}` }];
        const parts = { submissionId: id, isRecorded: false, key: undefined, items, settings: cell.settings };
        const userCall = userShellCall(id, command);
        enqueue({ kind: "input", ...parts, outputSchema: undefined, isOutside: false, userCall }, cell.queue);
      },
      shutdown: async (_op, _signal, id) => {
        shuttingDown = true;
        for (const work of [...cell.steered.splice(0), ...cell.queue.splice(0)]) refuseWork(work, shutdownRefusal);
        if (turn !== undefined) {
          const ended = nextTurnEnd();
          turn.abort();
          await ended;
        }
        forgetInCompactor();
        await rollout.close();
        publish({ type: "shutdown_complete" }, id);
      },
      turn_ended: ({ failure }) => {
        turn = undefined;
        // A bug in the turn's code, not an external failure: it ends the incarnation, and the next one closes the turn.
        if (failure !== undefined) throw new Error(failure.message);
        cell.running = undefined;
        approvals.turnEnded();
        for (const resolve of turnEndWaiters.splice(0)) resolve();
        beginNext();
        rememberSettings("");
      },
      [Symbol.asyncDispose]: async () => recording.close(),
    };
  },
};

function sleepMemory({ cell, rollout, sessionSource, changes, shownNotices }: ConversationOptions): SleepMemory {
  const { previousSettings, attempts, preparation, generation, turn } = cell;
  const notices = shownNotices();
  const stamps = cell.stamps.entries();
  const untracked = [...(changes?.untracked ?? [])];
  const isPrepared = preparation?.status === "ready" && preparation.generation === generation;
  return {
    sessionSource,
    ...(previousSettings && { previousSettings }),
    ...(attempts.failures > 0 || attempts.stalledAt > 0 ? { attempts } : {}),
    ...(notices.length > 0 ? { shownNotices: [...notices] } : {}),
    ...(untracked.length > 0 ? { untracked } : {}),
    ...(stamps.length > 0 ? { stamps } : {}),
    ...(cell.state.openTurn && turn ? { outsideSource: turn.outsideSource ?? null } : {}),
    ...(isPrepared ? { prepared: { generation, cut: preparation.cut, bytes: rollout.bytes } } : {}),
  };
}

/** Returns the input that a crashed incarnation was playing, unless its turn got far enough to be closed. */
export function lostInput({ running: lastWork, turn }: ConversationCell): QueuedWork | undefined {
  if (lastWork === undefined) return undefined;
  return turn?.submissionId === lastWork.submissionId && hasEnded[turn.status.status] ? undefined : lastWork;
}

/** Returns the id of a submission that was accepted before, under the same key or as the same submission. */
function knownSubmission(
  { state, running, steered, queue }: ConversationCell,
  key: string | undefined,
  submissionId: string,
): string | undefined {
  const isMeant = (work: QueuedWork | undefined): work is QueuedInput =>
    work?.kind === "input" && (work.submissionId === submissionId || (key !== undefined && work.key === key));
  const waiting = [running, ...steered, ...queue].find(isMeant);
  return waiting?.submissionId ?? state.submissions.get(key ?? submissionId);
}

/** The call of a command that the user has typed. It goes through the same approval and sandbox as one of the model. */
function userShellCall(submissionId: string, command: string): RunnableCallItem {
  const args = JSON.stringify({ command: ["sh", "-c", command] });
  return { type: "function_call", name: "shell", arguments: args, call_id: `user_${submissionId}` };
}

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

/** Turns expected errors into an answer; any other error ends the incarnation. */
async function resultOf<T>(work: Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    if (!(error instanceof InvalidInputError)) throw error;
    return { ok: false, failure: { code: "invalid_request", message: error.message, retryable: false } };
  }
}

async function summaryText(context: ConversationContext, items: readonly ResponseItem[]): Promise<string> {
  const outcome = await summarizeItems(context, items);
  if (outcome.status === "done") return outcome.text;
  if (outcome.status === "failed") throw new FailureError(outcome.failure);
  const message = "the items exceed the model's context window";
  throw new FailureError({ code: "context_overflow", message, retryable: false });
}

function sessionConfigured(options: ConversationOptions): EventMsg {
  const { conversationId, cell, rollout, recordedCwd, sessionSource } = options;
  const { settings, state, shown } = cell;
  return {
    type: "session_configured",
    session_id: bareId(conversationId),
    model: settings.model,
    model_provider_id: settings.provider,
    reasoning_effort: settings.effort,
    history_log_id: 0,
    history_entry_count: state.history.length,
    ...(shown.length > 0 ? { initial_messages: [...shown] } : {}),
    rollout_path: rollout.path,
    approval_policy: settings.approvalPolicy,
    sandbox_mode: settings.sandbox,
    cwd: settings.cwd,
    ...(recordedCwd === undefined ? {} : { recorded_cwd: recordedCwd }),
    session_source: sessionSource,
  };
}

/** The reason why no new work can begin; the code shows whether a retry is useful. */
interface Refusal {
  readonly code: FailureCode;
  readonly reason: string;
}

function fileTooLongRefusal(maxBytes: number): Refusal {
  const limit = `its file is larger than ${maxBytes / megabyte} MB (persistence.maxFileMegabytes)`;
  return { code: "limit_reached", reason: `${limit}; raise the limit, or start a new conversation` };
}

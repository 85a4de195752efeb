import type { CompactorEvent } from "../../../messages/compactor.js";
import type { Event, EventMsg } from "../../../messages/event.js";
import type { FailureCode } from "../../../messages/failure.js";
import type { SaveOutcome } from "../../../messages/rollout-writer.js";
import { FileStamps } from "../../../tools/files/file-stamps.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import { EventQueue } from "../../runtime/event-queue.js";
import { spawn } from "../../runtime/spawn.js";
import type { ConversationCell } from "../state/live-state.js";
import { conversation, lostInput } from "../conversation.js";
import { deltaRuns, mergeDeltas, eventWeight, OpenApprovalEvents } from "../events.js";
import { Conversation } from "../handle.js";
import { contextUsage, previewCompaction, summarizeItems } from "../compaction/context-usage.js";
import { isUnanswered } from "../calls/call-items.js";
import { Recording } from "../turn/recording.js";
import type { Settings } from "../state/settings.js";
import type { ConversationState } from "../state/state.js";
import type { TurnParts } from "../conversation-context.js";
import type { SessionSource } from "../../../messages/turn-context.js";

interface ConversationParts extends Omit<TurnParts, "eventRoom"> {
  readonly state: ConversationState;
  /** The transcript shown on resume. */
  readonly shown: readonly EventMsg[];
  readonly settings: Settings;
  readonly rollout: Rollout;
  readonly sessionSource: SessionSource;
  readonly recordedCwd: string | undefined;
  /** A notice for the user before the first turn. */
  readonly notice: string | undefined;
  /** Receives every event, before the conversation's own readers. */
  onEvent(event: Event): void;
  onRenamed(): Promise<SaveOutcome>;
  onPinned(): Promise<SaveOutcome>;
  /** Called once with the function that takes the compactor's events. */
  onCompactorEvents(receive: (event: CompactorEvent) => void): void;
  /** Called once, when the conversation has ended. */
  onEnd(): void;
  readonly continuesOpenTurn: boolean;
  readonly maxFileBytes: number;
}

/** Time limit for ending the turn and saving on shutdown. */
const shutdownMs = 15_000;

/** Starts the actor of one conversation and its event queue, and returns its handle. */
export function spawnConversation(parts: ConversationParts): Conversation {
  const { conversationId, rollout } = parts;
  const cell: ConversationCell = {
    state: parts.state,
    queue: [],
    running: undefined,
    settings: parts.settings,
    turn: undefined,
    isConfigured: false,
    shown: parts.shown,
    approvedCommands: new Set(),
    stamps: new FileStamps(),
    previousSettings: undefined,
    attempts: { failures: 0, stalledAt: 0 },
    generation: 0,
    counted: undefined,
    preparation: undefined,
    tokenRatio: undefined,
  };
  const requests = new OpenApprovalEvents<Event>(
    (request) => request,
    (_, callId) => isUnanswered(cell.state.approvals.get(callId)),
  );
  const queue = new EventQueue<Event>({
    merge: mergeDeltas,
    runs: deltaRuns,
    weigh: eventWeight,
    lagged: (from, to) => event(to, "", laggedMsg(from, to)),
    onLagged: () => requests.all(),
  });
  const turnParts = { ...parts, eventRoom: () => queue.room() };
  let seq = 0;
  let ending: Promise<void> | undefined;

  function event(number: number, id: string, msg: EventMsg): Event {
    return { id, seq: number, conversation_id: conversationId, msg };
  }

  function publish(id: string, msg: EventMsg): void {
    const next = event(seq++, id, msg);
    requests.note(next);
    parts.onEvent(next);
    queue.publish(next);
    // Whatever caused the shutdown, no event follows this one.
    if (msg.type === "shutdown_complete") ending ??= end();
  }

  const ref = spawn(
    { ...conversation, name: `conversation ${conversationId}` },
    { ...turnParts, cell },
    {
      onEvent: ({ id, msg }) => publish(id, msg),
      onRestart: (failure) =>
        publish(
          cell.turn?.submissionId ?? "",
          errorMsg(`the conversation was restarted after an internal error: ${failure.message}`, "internal"),
        ),
      onDropped: (id) => publish(id, errorMsg("the conversation has ended", "actor_stopped")),
      onFailed: (failure) => {
        publish("", errorMsg(`the conversation has failed: ${failure.message}`, "internal"));
        endOpenTurns();
        ending ??= end();
      },
    },
  );

  parts.onCompactorEvents((compactorEvent) => {
    void ref.tell({ type: "compactor_event", event: compactorEvent }).catch(() => undefined);
  });

  /**
   * Ends open turns and pending inputs, whose callers would otherwise wait for ever, because no incarnation follows.
   */
  function endOpenTurns(): void {
    const recording = new Recording(
      cell,
      rollout,
      () => parts.now(),
      (msg, id) => publish(id, msg),
    );
    const open = cell.state.openTurn;
    try {
      recording.closeOpenTurn(cell.turn, []);
    } catch {
      // Creating a line may be what is broken; then the end is only published, not written.
      const msg = { type: "turn_aborted", turn_id: open?.id, reason: "interrupted" } as const;
      if (open !== undefined) publish(cell.turn?.submissionId ?? "", msg);
    }
    const lost = lostInput(cell);
    for (const { submissionId } of [...(lost === undefined ? [] : [lost]), ...cell.queue.splice(0)]) {
      publish(submissionId, errorMsg("the conversation has failed", "internal"));
    }
  }

  async function shutDown(): Promise<void> {
    // A conversation that cannot end its turn in time is ended anyway: its recorded lines are in the outbox.
    await ref.ask({ type: "shutdown" }, AbortSignal.timeout(shutdownMs)).catch(() => undefined);
    await end();
  }

  async function end(): Promise<void> {
    await rollout.close();
    await ref.stop();
    await parts.servers?.release();
    queue.close();
    parts.onEnd();
  }

  return new Conversation({
    id: conversationId,
    rollout,
    notice: parts.notice,
    cell,
    ref,
    queue,
    maxTurns: parts.maxTurns,
    servers: parts.servers,
    countTokens: (text) => parts.countTokens(text),
    instructions: (settings) => parts.instructions(settings),
    previewCompaction: (strategy) => previewCompaction({ parts: turnParts, cell }, strategy),
    contextUsage: () => contextUsage({ parts: turnParts, cell }),
    summarize: (items) => summarizeItems({ parts: turnParts, cell }, items),
    warn: (message) => publish("", { type: "warning", message }),
    onRenamed: () => parts.onRenamed(),
    onPinned: () => parts.onPinned(),
    onShutdown: () => {
      ending ??= shutDown();
      return ending;
    },
    ending: () => ending,
  });
}

function errorMsg(message: string, code: FailureCode): EventMsg {
  return { type: "error", message, codex_error_info: code };
}

function laggedMsg(from: number, to: number): EventMsg {
  return { type: "lagged", from, to };
}

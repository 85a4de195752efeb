import type { EventMsg } from "../../messages/event.js";
import type { ModelRequest } from "../../messages/model.js";
import { inputContent, inputText } from "../../messages/user-input.js";
import type { Provider } from "../../providers/provider.js";
import type { ActiveTurn } from "./active-turn.js";
import type { ConversationCell, QueuedInput } from "./cell.js";
import type { Recording } from "./recording.js";
import { runSteps, type TurnEnd } from "./run-steps.js";
import type { RetryPolicy } from "./sampling.js";
import { type Settings, turnContext } from "./settings.js";

/** What a turn takes from outside its conversation. */
export interface TurnParts {
  readonly conversationId: string;
  readonly retry: RetryPolicy;
  provider(settings: Settings): Provider;
  instructions(settings: Settings): string;
  countTokens(text: string): number;
  now(): Date;
  newId(): string;
}

/** One turn from the user's words to the event that ends it: exactly one of `task_complete` and `turn_aborted`. */
export async function playTurn(
  parts: TurnParts,
  cell: ConversationCell,
  recording: Recording,
  publish: (msg: EventMsg, submissionId: string) => void,
  input: QueuedInput,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = input;
  const turn = newTurn(input, parts);
  cell.turn = turn;
  recordInput(recording, turn, settings);
  const id = input.submissionId;
  const end = await runSteps(
    {
      state: cell.state,
      provider: parts.provider(settings),
      retry: parts.retry,
      request: () => modelRequest(parts, cell, settings),
      countTokens: (text) => parts.countTokens(text),
      record: (line) => recording.line(line, id),
      publish: (msg) => publish(msg, id),
    },
    turn,
    signal,
  );
  // An interrupt that comes later than this is too late: the line that ends the turn is written without a pause.
  const decided: TurnEnd = signal.aborted ? { status: "aborted" } : end;
  if (decided.status === "failed") {
    publish({ type: "error", message: decided.failure.message, codex_error_info: decided.failure.code }, id);
  }
  await recordEnd(recording, turn, decided, parts.now());
}

function newTurn(input: QueuedInput, parts: TurnParts): ActiveTurn {
  return {
    turnId: parts.newId(),
    submissionId: input.submissionId,
    startedAt: parts.now(),
    input: input.items,
    text: "",
    reasoning: "",
    toolCalls: [],
    status: { status: "processing" },
  };
}

function recordInput(recording: Recording, turn: ActiveTurn, settings: Settings): void {
  const id = turn.submissionId;
  const images = turn.input.flatMap((item) => (item.type === "image" ? [item.image_url] : []));
  recording.line(
    {
      type: "event_msg",
      payload: { type: "task_started", turn_id: turn.turnId, started_at: seconds(turn.startedAt) },
    },
    id,
  );
  recording.line({ type: "turn_context", payload: turnContext(settings, turn.turnId) }, id);
  recording.line(
    { type: "response_item", payload: { type: "message", role: "user", content: inputContent(turn.input) } },
    id,
  );
  recording.line({ type: "event_msg", payload: { type: "user_message", message: inputText(turn.input), images } }, id);
}

function modelRequest(parts: TurnParts, cell: ConversationCell, settings: Settings): ModelRequest {
  return {
    conversationId: parts.conversationId,
    model: settings.model,
    instructions: parts.instructions(settings),
    input: [...cell.state.history],
    tools: [],
    effort: settings.effort,
  };
}

async function recordEnd(recording: Recording, turn: ActiveTurn, end: TurnEnd, now: Date): Promise<void> {
  const times = {
    turn_id: turn.turnId,
    started_at: seconds(turn.startedAt),
    completed_at: seconds(now),
    duration_ms: Math.max(1, now.getTime() - turn.startedAt.getTime()),
  };
  switch (end.status) {
    case "completed":
      turn.status = { status: "completed" };
      return recording.end(
        { type: "task_complete", last_agent_message: end.lastAgentMessage, ...times },
        turn.submissionId,
      );
    case "failed": {
      const error = { message: end.failure.message, codex_error_info: end.failure.code };
      turn.status = { status: "failed", error: error.message };
      return recording.end(
        { type: "task_complete", last_agent_message: end.lastAgentMessage, error, ...times },
        turn.submissionId,
      );
    }
    case "aborted":
      turn.status = { status: "cancelled" };
      recording.closeCalls("aborted by the user", turn.submissionId);
      recording.noteAbort(turn.submissionId);
      return recording.end({ type: "turn_aborted", reason: "interrupted", ...times }, turn.submissionId);
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

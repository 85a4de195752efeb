import { GrowingText } from "../../base/text/growing-text.js";
import type { ConversationMsg, MirrorChange, Settings, TurnStatus } from "../../messages/actors/conversation.js";
import type { EventMsg } from "../../messages/event.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { TokenUsageInfo } from "../../messages/token-usage.js";
import type { InlineInput } from "../../messages/user-input.js";
import { isRunnableCall, type RunnableCallItem } from "./calls/call-items.js";

type Opened = Extract<MirrorChange, { type: "opened" }>;

/**
 * The small facts about a conversation that its handle answers at once, in the handle's thread. It changes only with
 * what the conversation publishes.
 */
export class ConversationMirror {
  rolloutPath: string | null;
  readonly notice: string | undefined;
  name: string | undefined;
  pinned: boolean;
  settings: Settings;
  turns: number;
  usage: TokenUsageInfo | null;
  /** The id of the turn that has begun and not ended. */
  openTurn: string | undefined;
  /** The running turn, or the last one. */
  turn: TurnView | undefined;
  /** The system prompt. */
  prompt: string;
  /** Absent when it has no MCP servers. */
  servers: Opened["servers"];
  /** The keys of commands that the user has approved for the whole conversation. */
  readonly approvedCommands: Set<string> = new Set();
  #unapprovedCalls: Set<string>;

  constructor(opened: Opened) {
    this.rolloutPath = opened.rolloutPath;
    this.notice = opened.notice;
    this.name = opened.name;
    this.pinned = opened.pinned;
    this.settings = opened.settings;
    this.turns = opened.turns;
    this.usage = opened.usage;
    this.openTurn = opened.openTurn;
    this.prompt = opened.prompt;
    this.servers = opened.servers;
    this.#unapprovedCalls = new Set(opened.unapprovedCalls);
  }

  /** Whether a call waits for the user's approval. */
  awaitsApproval(callId: string): boolean {
    return this.#unapprovedCalls.has(callId);
  }

  /** Follows what the conversation has published. `input` is that of the submission, if it is known. */
  apply(msg: ConversationMsg, submissionId: string, input: readonly InlineInput[]): void {
    if (msg.type === "mirror") this.#change(msg.change, input);
    else this.#event(msg, submissionId);
  }

  #change(change: MirrorChange, input: readonly InlineInput[]): void {
    switch (change.type) {
      case "opened":
        this.rolloutPath = change.rolloutPath;
        this.name = change.name;
        this.pinned = change.pinned;
        this.settings = change.settings;
        this.turns = change.turns;
        this.usage = change.usage;
        this.openTurn = change.openTurn;
        this.prompt = change.prompt;
        this.servers = change.servers;
        this.#unapprovedCalls = new Set(change.unapprovedCalls);
        return;
      case "named":
        this.name = change.name;
        return;
      case "pinned":
        this.pinned = change.pinned;
        return;
      case "settings":
        this.settings = change.settings;
        return;
      case "prompt":
        this.prompt = change.text;
        return;
      case "turn":
        this.turn = new TurnView(change, input);
        return;
      case "turn_status":
        if (this.turn !== undefined) this.turn.status = change.turn;
        return;
      case "approval_requested":
        this.#unapprovedCalls.add(change.callId);
        return;
      case "approval_decided":
        this.#unapprovedCalls.delete(change.callId);
        return;
      case "command_approved":
        this.approvedCommands.add(change.key);
        return;
    }
  }

  #event(msg: EventMsg, submissionId: string): void {
    switch (msg.type) {
      case "task_started":
        this.turns += 1;
        this.openTurn = msg.turn_id;
        return;
      case "task_complete":
      case "turn_aborted":
        this.openTurn = undefined;
        this.#unapprovedCalls.clear();
        return;
      case "token_count":
        if (msg.info !== null) this.usage = msg.info;
        return;
      default:
        if (this.turn?.submissionId === submissionId) this.turn.follow(msg);
    }
  }
}

/** The running turn, or the last one, with what is not in the history because it is unfinished. */
export class TurnView {
  readonly turnId: string;
  /** The submission that began it; empty if another process did. */
  readonly submissionId: string;
  readonly startedAt: Date;
  readonly input: readonly InlineInput[];
  readonly toolCalls: RunnableCallItem[] = [];
  status: TurnStatus = { status: "processing" };
  readonly #text = new GrowingText();
  readonly #reasoning = new GrowingText();

  constructor(turn: Extract<MirrorChange, { type: "turn" }>, input: readonly InlineInput[]) {
    this.turnId = turn.turnId;
    this.submissionId = turn.submissionId;
    this.startedAt = new Date(turn.startedAt);
    this.input = input;
  }

  /** The answer so far. */
  get text(): string {
    return this.#text.toString();
  }

  get reasoning(): string {
    return this.#reasoning.toString();
  }

  follow(msg: EventMsg): void {
    if (msg.type === "agent_message_delta") this.#text.add(msg.delta);
    else if (msg.type === "agent_reasoning_delta") this.#reasoning.add(msg.delta);
    else if (msg.type === "raw_response_item") {
      const item = msg.item as ResponseItem;
      if (isRunnableCall(item)) this.toolCalls.push(item);
    }
  }
}

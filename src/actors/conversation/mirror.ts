import { GrowingText } from "../../base/text/growing-text.js";
import type { ConversationMsg, MirrorChange, Settings, TurnStatus } from "../../messages/actors/conversation.js";
import type { EventMsg } from "../../messages/event.js";
import type { ResponseItem } from "../../messages/response-item.js";
import type { TokenUsageInfo } from "../../messages/token-usage.js";
import type { InlineInput } from "../../messages/user-input.js";
import { isRunnableCall, type RunnableCallItem } from "./calls/call-items.js";

type Opened = Extract<MirrorChange, { type: "opened" }>;

/** Shared, because an empty set takes 200 bytes. */
const none: ReadonlySet<string> = new Set();

const nothing: readonly never[] = [];

/** Number of different values that are found again. */
const maxShared = 64;

/** Keeps equal values once: most conversations of a process have the same settings and the same prompt. */
class SharedValues<T> {
  readonly #values = new Map<string, T>();

  of(key: string, value: T): T {
    const shared = this.#values.get(key) ?? value;
    this.#values.delete(key);
    this.#values.set(key, shared);
    const [oldest] = this.#values.keys();
    if (this.#values.size > maxShared && oldest !== undefined) this.#values.delete(oldest);
    return shared;
  }
}

const sharedSettings = new SharedValues<Settings>();
const sharedPrompts = new SharedValues<string>();

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
  approvedCommands: ReadonlySet<string> = none;
  #unapprovedCalls: ReadonlySet<string>;

  constructor(opened: Opened) {
    this.rolloutPath = opened.rolloutPath;
    this.notice = opened.notice;
    this.name = opened.name;
    this.pinned = opened.pinned;
    this.settings = shareSettings(opened.settings);
    this.turns = opened.turns;
    this.usage = opened.usage;
    this.openTurn = opened.openTurn;
    this.prompt = sharedPrompts.of(opened.prompt, opened.prompt);
    this.servers = opened.servers;
    this.#unapprovedCalls = setOf(opened.unapprovedCalls);
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

  /** Drops what a sleeping conversation does not answer: the contents of its last turn, which are in the history. */
  release(): void {
    if (this.openTurn === undefined) this.turn?.release();
  }

  #change(change: MirrorChange, input: readonly InlineInput[]): void {
    switch (change.type) {
      case "opened":
        // An equal text from another thread or a directory would be another copy.
        if (this.rolloutPath !== change.rolloutPath) this.rolloutPath = change.rolloutPath;
        this.name = change.name;
        this.pinned = change.pinned;
        this.settings = shareSettings(change.settings);
        this.turns = change.turns;
        this.usage = change.usage;
        this.openTurn = change.openTurn;
        this.prompt = sharedPrompts.of(change.prompt, change.prompt);
        this.servers = change.servers;
        this.#unapprovedCalls = setOf(change.unapprovedCalls);
        return;
      case "named":
        this.name = change.name;
        return;
      case "pinned":
        this.pinned = change.pinned;
        return;
      case "settings":
        this.settings = shareSettings(change.settings);
        return;
      case "prompt":
        this.prompt = sharedPrompts.of(change.text, change.text);
        return;
      case "turn":
        this.turn = new TurnView(change, input);
        return;
      case "turn_status":
        if (this.turn !== undefined) this.turn.status = change.turn;
        return;
      case "approval_requested":
        this.#unapprovedCalls = setOf([...this.#unapprovedCalls, change.callId]);
        return;
      case "approval_decided":
        this.#unapprovedCalls = setOf([...this.#unapprovedCalls].filter((callId) => callId !== change.callId));
        return;
      case "command_approved":
        this.approvedCommands = setOf([...this.approvedCommands, change.key]);
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
        this.#unapprovedCalls = none;
        return;
      case "token_count":
        if (msg.info !== null) this.usage = msg.info;
        return;
      default:
        if (this.turn?.submissionId === submissionId) this.turn.follow(msg);
    }
  }
}

/** Returns the first of equal settings, so that many conversations keep one object. */
export function shareSettings(settings: Settings): Settings {
  return sharedSettings.of(JSON.stringify(settings), settings);
}

function setOf(values: readonly string[]): ReadonlySet<string> {
  return values.length === 0 ? none : new Set(values);
}

/**
 * The running turn, or the last one, with what is not in the history because it is unfinished. When the conversation
 * falls asleep, input, calls and texts of a turn that has ended are dropped.
 */
export class TurnView {
  readonly turnId: string;
  /** The submission that began it; empty if another process did. */
  readonly submissionId: string;
  readonly #startedAt: number;
  #input: readonly InlineInput[];
  #toolCalls: readonly RunnableCallItem[] = nothing;
  status: TurnStatus = { status: "processing" };
  #text: GrowingText | undefined;
  #reasoning: GrowingText | undefined;

  constructor(turn: Extract<MirrorChange, { type: "turn" }>, input: readonly InlineInput[]) {
    this.turnId = turn.turnId;
    this.submissionId = turn.submissionId;
    this.#startedAt = turn.startedAt;
    this.#input = input;
  }

  get startedAt(): Date {
    return new Date(this.#startedAt);
  }

  get input(): readonly InlineInput[] {
    return this.#input;
  }

  get toolCalls(): readonly RunnableCallItem[] {
    return this.#toolCalls;
  }

  /** The answer so far. */
  get text(): string {
    return this.#text?.toString() ?? "";
  }

  get reasoning(): string {
    return this.#reasoning?.toString() ?? "";
  }

  follow(msg: EventMsg): void {
    if (msg.type === "agent_message_delta") (this.#text ??= new GrowingText()).add(msg.delta);
    else if (msg.type === "agent_reasoning_delta") (this.#reasoning ??= new GrowingText()).add(msg.delta);
    else if (msg.type === "raw_response_item") {
      const item = msg.item as ResponseItem;
      if (isRunnableCall(item)) this.#toolCalls = [...this.#toolCalls, item];
    }
  }

  release(): void {
    this.#input = nothing;
    this.#toolCalls = nothing;
    this.#text = undefined;
    this.#reasoning = undefined;
  }
}

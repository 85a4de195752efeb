import type { ConversationMsg } from "../../messages/actors/conversation.js";
import { type Event, type EventMsg, isApprovalMsg } from "../../messages/event.js";
import type { FileChange } from "../../messages/tools/file-change.js";
import {
  EventQueue,
  type EventQueueOptions,
  type EventReader,
  type EventRuns,
  type EventSource,
} from "../runtime/event-queue.js";

/** Stores runs of deltas as texts: most events are deltas, and an event takes ten times the memory of its text. */
const deltaRuns: EventRuns<Event> = { text: continuingText, event: withDeltaText };

/** The options of each conversation's own queue. */
export const conversationEvents: EventQueueOptions<Event> = { merge: mergeDeltas, runs: deltaRuns, weigh: eventWeight };

/** An event numbered over all conversations; it keeps its number within its own conversation as well. */
interface NumberedEvent {
  readonly seq: number;
  readonly event: Event;
}

const allEventsOptions: EventQueueOptions<NumberedEvent> = {
  merge,
  // No reader starts at an earlier number.
  replay: 0,
  weigh: ({ event }) => eventWeight(event),
};

/** One stream of the events of all conversations. It costs nothing until it is first read. */
export class AllEvents implements EventSource<NumberedEvent> {
  readonly #requests: OpenApprovalEvents<NumberedEvent>;
  #queue: EventQueue<NumberedEvent> | undefined;
  #published = 0;

  constructor(isRequestOpen: (conversationId: string, callId: string) => boolean) {
    this.#requests = new OpenApprovalEvents(({ event }) => event, isRequestOpen);
  }

  publish(event: Event): void {
    if (this.#queue === undefined) return;
    const next = { seq: this.#published++, event };
    this.#requests.note(next);
    this.#queue.publish(next);
  }

  /** Publishes a delta, and for each text one that differs only in number and text. */
  publishRun(first: Event, texts: readonly string[]): void {
    if (this.#queue === undefined) return;
    this.publish(first);
    for (const [index, text] of texts.entries()) this.publish(withDeltaText(first, first.seq + 1 + index, text));
  }

  /** Returns a reader of all events from now on. */
  reader(): AsyncIterableIterator<Event> {
    return withoutNumbers(this.#opened().reader({}));
  }

  /** Ends all current and future readers. */
  close(): void {
    this.#opened().close();
  }

  #opened(): EventQueue<NumberedEvent> {
    this.#queue ??= new EventQueue<NumberedEvent>(allEventsOptions, this);
    return this.#queue;
  }

  lagged(from: number, to: number): NumberedEvent {
    return { seq: to, event: { id: "", seq: to, conversation_id: "", msg: { type: "lagged", from, to } } };
  }

  onLagged(): readonly NumberedEvent[] {
    return this.#requests.all();
  }
}

function merge(older: NumberedEvent, newer: NumberedEvent): NumberedEvent | undefined {
  const event = mergeDeltas(older.event, newer.event);
  return event && { seq: newer.seq, event };
}

/** Not a generator: one that waits for an event could not be left before the event comes. */
function withoutNumbers(reader: EventReader<NumberedEvent>): AsyncIterableIterator<Event> {
  return {
    next: async () => {
      const { done, value } = await reader.next();
      return done === true ? { done, value } : { done: false, value: value.event };
    },
    return: async () => {
      await reader.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Returns the number of characters that only the event holds; items and messages are in the history anyway. */
function eventWeight({ msg }: Event): number {
  switch (msg.type) {
    case "exec_command_output_delta":
      return msg.chunk.length;
    case "exec_command_end":
      return msg.stdout.length + msg.stderr.length;
    case "patch_apply_begin":
      return Object.values(msg.changes).reduce((sum, change) => sum + changeWeight(change), 0);
    case "agent_message_delta":
    case "agent_reasoning_delta":
    case "tool_call_delta":
      return msg.delta.length;
    default:
      return 0;
  }
}

function changeWeight(change: FileChange): number {
  return change.type === "update" ? change.unified_diff.length : change.content.length;
}

export type DeltaMsg = Extract<EventMsg, { type: "agent_message_delta" | "agent_reasoning_delta" | "tool_call_delta" }>;

/** Merges two consecutive deltas of one item into a longer one, for a reader that has not read the first. */
function mergeDeltas(older: Event, newer: Event): Event | undefined {
  const text = continuingText(older, newer);
  return text === undefined || !isDeltaMsg(older.msg)
    ? undefined
    : withDeltaText(newer, newer.seq, older.msg.delta + text);
}

/** Returns the text of a delta if it continues the item of another delta. */
function continuingText(older: Event, newer: Event): string | undefined {
  const a = older.msg;
  const b = newer.msg;
  if (!isDeltaMsg(a) || !isDeltaMsg(b) || a.type !== b.type || a.item_id !== b.item_id) return undefined;
  return older.id === newer.id && older.conversation_id === newer.conversation_id ? b.delta : undefined;
}

function withDeltaText(event: Event, seq: number, delta: string): Event {
  return isDeltaMsg(event.msg) ? { ...event, seq, msg: { ...event.msg, delta } } : event;
}

export function isDeltaMsg(msg: ConversationMsg): msg is DeltaMsg {
  return msg.type === "agent_message_delta" || msg.type === "agent_reasoning_delta" || msg.type === "tool_call_delta";
}

/** The events of unanswered approval requests, which a reader that fell behind must still see. */
export class OpenApprovalEvents<E> {
  readonly #eventOf: (entry: E) => Event;
  readonly #isOpen: (conversationId: string, callId: string) => boolean;
  #requests: E[] = [];

  constructor(eventOf: (entry: E) => Event, isOpen: (conversationId: string, callId: string) => boolean) {
    this.#eventOf = eventOf;
    this.#isOpen = isOpen;
  }

  note(entry: E): void {
    if (isApprovalMsg(this.#eventOf(entry).msg)) this.#requests = [...this.all(), entry];
  }

  /** Returns the requests that are still open. */
  all(): readonly E[] {
    this.#requests = this.#requests.filter((entry) => {
      const { conversation_id, msg } = this.#eventOf(entry);
      return isApprovalMsg(msg) && this.#isOpen(conversation_id, msg.call_id);
    });
    return this.#requests;
  }
}

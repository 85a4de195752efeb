import { InvalidInputError } from "../../messages/errors.js";
import type { Event } from "../../messages/event.js";
import { check } from "../../messages/parse.js";
import { type ResponseItem, ResponseItem as ResponseItemSchema } from "../../messages/response-item.js";
import type { SaveOutcome } from "../../messages/rollout-command.js";
import { Op } from "../../messages/submission.js";
import type { TokenUsageInfo } from "../../messages/token-usage.js";
import type { InlineInput, UserInput } from "../../messages/user-input.js";
import type { Rollout } from "../rollout-writer/rollout.js";
import type { Ref } from "../system/actor.js";
import type { EventQueue } from "../system/event-queue.js";
import type { EventReader } from "../system/event-reader.js";
import type { ActiveTurn } from "./active-turn.js";
import type { ConversationCell } from "./cell.js";
import type { ConversationOp } from "./conversation.js";
import { readLocalImage } from "./local-image.js";
import type { Settings } from "./settings.js";
import { type PlainItem, plainItems } from "./plain-items.js";

/** What a handle is made of; only the manager makes one. */
export interface HandleParts {
  readonly id: string;
  readonly rollout: Rollout;
  readonly notice: string | undefined;
  readonly cell: ConversationCell;
  readonly ref: Ref<ConversationOp, Record<never, never>>;
  readonly queue: EventQueue<Event>;
  instructions(settings: Settings): string;
  onShutdown(): Promise<void>;
}

/** A conversation in the caller's hands: submissions in, events out. */
export class Conversation {
  readonly id: string;
  /** Where it is saved; null when it is not. */
  readonly rolloutPath: string | null;
  /** What a person should know before the first turn, such as that no key was found. */
  readonly notice: string | undefined;
  readonly #parts: HandleParts;
  readonly #own: EventReader<Event>;
  #ownTaken = false;
  #shutdown: Promise<void> | undefined;

  constructor(parts: HandleParts) {
    this.id = parts.id;
    this.rolloutPath = parts.rollout.path;
    this.notice = parts.notice;
    this.#parts = parts;
    this.#own = parts.queue.reader({ since: 0 });
  }

  /** The settings the next turn runs with. */
  get settings(): Settings {
    return this.#parts.cell.settings;
  }

  /** How many turns have begun, since its first line. */
  get turns(): number {
    return this.#parts.cell.state.turns;
  }

  /** Tokens of the last model call and of all; null before the first. */
  get usage(): TokenUsageInfo | null {
    return this.#parts.cell.state.usage;
  }

  /** The running turn, or the last one. */
  get turn(): Readonly<ActiveTurn> | undefined {
    return this.#parts.cell.turn;
  }

  /** Puts user input, or any other op, into the queue; resolves with the id its events will carry. */
  async submit(input: string | readonly UserInput[] | Op): Promise<string> {
    const op = check(Op, asOp(input), "submission");
    return await this.#parts.ref.tell(await inlined(op, this.settings.cwd));
  }

  /** The next event nobody has taken yet; rejects when the conversation has ended. */
  async nextEvent(): Promise<Event> {
    const result = await this.#own.next();
    if (result.done === true)
      throw new InvalidInputError(`conversation ${this.id} has ended: there are no more events`);
    return result.value;
  }

  /**
   * The events from `session_configured` on. The first reader without `since` shares its place with `nextEvent`;
   * every other one is independent and starts at `since`, or with what comes next.
   */
  events(options: { readonly since?: number } = {}): AsyncIterableIterator<Event> {
    if (options.since === undefined && !this.#ownTaken) {
      this.#ownTaken = true;
      return this.#own;
    }
    return this.#parts.queue.reader(options);
  }

  getHistory(): ResponseItem[];
  /** With `content: "text"` every text part has the type `text`, as the seed documents have it. */
  getHistory(options: { readonly content: "text" }): PlainItem[];
  getHistory(options?: { readonly content: "text" }): ResponseItem[] | PlainItem[] {
    const history = this.#parts.cell.state.history;
    return options === undefined ? [...history] : plainItems(history);
  }

  /** What the model is told before history: the system prompt as an item. */
  getInitialContext(): ResponseItem[] {
    const text = this.#parts.instructions(this.settings);
    return [{ type: "message", role: "developer", content: [{ type: "input_text", text }] }];
  }

  /** Replaces history and nothing else; the rollout keeps every line. */
  async replaceHistory(items: readonly ResponseItem[]): Promise<void> {
    const checked = items.map((item, index) => check(ResponseItemSchema, item, `item ${index}`));
    await this.#parts.ref.ask({ type: "replace_history", items: checked });
  }

  /** Runs one turn and resolves with its items when it has ended. */
  async processMessage(input: string | readonly UserInput[]): Promise<ResponseItem[]> {
    const events = this.#parts.queue.reader({});
    try {
      const id = await this.submit(input);
      const items: ResponseItem[] = [];
      for await (const event of events) {
        if (event.id !== id) continue;
        if (event.msg.type === "raw_response_item") items.push(event.msg.item as ResponseItem);
        if (event.msg.type === "task_complete" || event.msg.type === "turn_aborted") return items;
      }
      return items;
    } finally {
      await events.return();
    }
  }

  /** Resolves when everything recorded so far is on disk, or cannot be put there now. */
  async flush(): Promise<SaveOutcome> {
    return await this.#parts.rollout.flush();
  }

  async interrupt(): Promise<void> {
    await this.submit({ type: "interrupt" });
  }

  async compact(): Promise<void> {
    await this.submit({ type: "compact" });
  }

  /** Ends the running turn, saves, lets go of the rollout and ends the events. */
  shutdown(): Promise<void> {
    this.#shutdown ??= this.#parts.onShutdown();
    return this.#shutdown;
  }
}

function asOp(input: string | readonly UserInput[] | Op): unknown {
  if (typeof input === "string") return { type: "user_input", items: [{ type: "text", text: input }] };
  return Array.isArray(input) ? { type: "user_input", items: input } : input;
}

/** Images are read where they enter: what a turn has seen must not depend on a file that may change. */
async function inlined(op: Op, cwd: string): Promise<ConversationOp> {
  if (op.type !== "user_input" && op.type !== "user_turn") return op;
  const items = await Promise.all(
    op.items.map(async (item): Promise<InlineInput> =>
      item.type === "local_image" ? readLocalImage(item.path, cwd) : item,
    ),
  );
  return { ...op, items };
}

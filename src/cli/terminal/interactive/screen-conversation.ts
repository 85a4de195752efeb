import type { Conversation } from "../../../actors/conversation/handle.js";
import { newConversationId } from "../../../actors/conversation/open/open-conversation.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { Event, EventMsg } from "../../../messages/event.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { Op } from "../../../messages/submission.js";
import type { ReviewDecision } from "../../../messages/tools/approval.js";
import type { UserInput } from "../../../messages/user-input.js";
import { counted } from "../../../base/text/counted.js";
import { shortName } from "../../../base/text/conversation-name.js";
import { describeError } from "../../describe-error.js";
import type { Workspace } from "../../workspace.js";
import {
  changeSettings,
  type ConversationAtWork,
  type SettingsChange,
  type ShownSettings,
  statusOf,
  surroundingsOf,
} from "../prompt/prompt-conversation.js";
import type { WithEvents } from "../turn-player.js";
import { ConversationState } from "./conversation-state.js";
import { historyEntries } from "./history-entries.js";
import { Transcript } from "./transcript.js";

/** How many past turns of a resumed conversation are shown. */
const shownTurns = 3;

/** An input that was sent and is not in the history yet. */
export interface WaitingInput {
  /** The items for the text; a promise while the files that it names are read. */
  readonly items: readonly UserInput[] | Promise<readonly UserInput[]>;
  /** As it was typed, to be edited again. */
  readonly text: string;
  /** `steer`: for the running turn; `queue`: for the one after it. */
  readonly kind: "steer" | "queue";
  readonly isOutside?: boolean;
  /** Run instead of sending the items, which the model sees with the next message. */
  readonly command?: string;
  /** Set once the conversation has accepted the input. */
  submissionId?: string;
}

interface ScreenConversationParts {
  readonly workspace: Workspace;
  readonly now: () => number;
  /** Something to draw has changed. */
  readonly onChange: (conversation: ScreenConversation) => void;
  readonly onEvent: (conversation: ScreenConversation, msg: EventMsg) => void;
  /** Called when the conversation has been created or opened. */
  readonly onOpened: (conversation: Conversation) => Promise<void>;
}

/** An open conversation, shown or not. A new one has an id at once, and a file after the first message. */
export class ScreenConversation {
  readonly state = new ConversationState();
  readonly transcript = new Transcript();
  /** Changes since it was last shown, for the mark in lists. */
  unread = 0;
  /** The settings of a new conversation that was not created yet. */
  plan: ShownSettings;
  /** The part of `plan` that the user chose for this conversation; the rest comes from the configuration. */
  chosen: ConversationConfig = {};
  readonly #parts: ScreenConversationParts;
  #id: string = newConversationId();
  #conversation: Conversation | undefined;
  #waiting: WaitingInput[] = [];
  /** Inputs of which the events came before the answer to their submission. */
  readonly #begun = new Set<string>();
  readonly #withdrawn = new Set<string>();
  #isInterrupted = false;
  /** The last message of the user, shortened. */
  #about: string | undefined;
  readonly #listeners = new Set<(msg: EventMsg) => void>();
  /** Ends with the last submission: they are sent one after another, the first once the conversation was created. */
  #sending: Promise<unknown> = Promise.resolve();
  #reading: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: ScreenConversationParts) {
    this.#parts = parts;
    this.plan = parts.workspace.plannedSettings();
  }

  get id(): string {
    return this.#id;
  }

  get workspace(): Workspace {
    return this.#parts.workspace;
  }

  /** Undefined before the first message. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  get begun(): ConversationAtWork | undefined {
    const conversation = this.#conversation;
    return conversation && { conversation, watch: (work, signal) => this.#watch(conversation, work, signal) };
  }

  get waiting(): readonly WaitingInput[] {
    return this.#waiting;
  }

  get name(): string | undefined {
    return this.#conversation?.name;
  }

  /** Its name, or what it is about, for lists. */
  get title(): string {
    return this.name ?? this.#about ?? "new conversation";
  }

  /** The settings of the next turn. */
  get settings(): ShownSettings {
    return this.#conversation?.settings ?? this.plan;
  }

  get labels(): { readonly provider: string; readonly model: string } {
    return this.settings;
  }

  get status() {
    return statusOf(this);
  }

  get surroundings() {
    return surroundingsOf(this.workspace);
  }

  /**
   * Shows an opened conversation: its last turns, and from now on its events. `onLoaded` is called when its title and
   * its last turns are known.
   */
  async show(conversation: Conversation, onLoaded: () => void = () => undefined): Promise<void> {
    this.#id = conversation.id;
    this.#conversation = conversation;
    const items = await conversation.readHistory();
    const { entries, details, messages } = historyEntries(items, shownTurns);
    if (messages > 0) {
      const name = conversation.name === undefined ? "" : ` ${conversation.name}`;
      const text = `Resumed conversation${name} with ${counted(messages, "message")}`;
      this.state.add({ type: "notice", kind: "info", text });
    }
    for (const { title, text } of details) this.state.addDetail(title, text);
    for (const entry of entries) this.state.add(entry);
    this.state.usage = conversation.usage ?? undefined;
    this.state.lastAnswer = entries.findLast((entry) => entry.type === "answer")?.text ?? "";
    this.#about = shortName(entries.findLast((entry) => entry.type === "user")?.text ?? "");
    onLoaded();
    this.#read(conversation);
    await this.#parts.onOpened(conversation);
    this.#parts.onChange(this);
  }

  /** The conversation, which is created if it has no message yet. */
  async opened(): Promise<Conversation> {
    if (this.#conversation !== undefined) return this.#conversation;
    const { conversation } = await this.workspace.create({ ...this.chosen, id: this.#id });
    this.#conversation = conversation;
    this.#read(conversation);
    await this.#parts.onOpened(conversation);
    return conversation;
  }

  /** Sends an input: for the running turn, for the one after it, or for a turn that begins now. */
  send(input: WaitingInput): void {
    const { items, kind, isOutside = false, command } = input;
    const isFirst = !this.state.isBusy;
    if (isFirst) {
      this.#isInterrupted = false;
      this.state.begin("Sending", this.#parts.now());
    } else this.#waiting.push(input);
    this.#send(async () => {
      const conversation = await this.opened();
      const content = await items;
      const options = { outsideContent: isOutside };
      if (command !== undefined) {
        input.submissionId = await conversation.submit({ type: "run_user_shell_command", command });
      } else {
        const submitted = await (kind === "steer" && !isFirst
          ? conversation.steer(content, options)
          : conversation.queue(content, options));
        input.submissionId = submitted.id;
      }
      if (this.#begun.has(input.submissionId)) this.#forget(input.submissionId);
    }, input);
    this.#parts.onChange(this);
  }

  /** Takes back the newest input that waits, to be edited; resolves with its text if it has not begun. */
  async takeBack(): Promise<string | undefined> {
    const input = this.#waiting.at(-1);
    return input !== undefined && (await this.#withdraw(input)) ? input.text : undefined;
  }

  /** Stops the running turn; resolves with the texts that waited for it or its end. */
  async interrupt(): Promise<string[]> {
    if (this.#isInterrupted) return [];
    this.#isInterrupted = true;
    const returned: string[] = [];
    const waiting = this.#waiting;
    for (const input of waiting) if (await this.#withdraw(input)) returned.push(input.text);
    this.#send(async () => await this.#conversation?.interrupt());
    await this.#sending;
    return returned;
  }

  /** An interrupt was sent, and the turn has not ended yet. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  async player(): Promise<ConversationAtWork> {
    const conversation = await this.opened();
    return { conversation, watch: (work, signal) => this.#watch(conversation, work, signal) };
  }

  async change(change: SettingsChange): Promise<void> {
    const old = this.#conversation;
    if (old === undefined) {
      this.chosen = { ...this.chosen, ...change };
      this.plan = { ...this.plan, ...change };
      return;
    }
    this.#isClosed = true;
    try {
      const changed = await changeSettings(old, this.workspace, change);
      if (changed === old) return;
      await this.#reading;
      this.#conversation = changed;
      this.#read(changed);
    } finally {
      this.#isClosed = false;
    }
  }

  decide(approvalId: string, decision: ReviewDecision): void {
    const op: Op = { type: "exec_approval", id: approvalId, decision };
    this.state.decide(approvalId);
    this.#send(async () => {
      try {
        await (await this.opened()).submit(op);
      } catch (error) {
        this.state.undecide(approvalId);
        throw error;
      }
    });
    this.#parts.onChange(this);
  }

  /** Sends an op; an error is shown. */
  submit(op: Op): void {
    this.#send(async () => void (await (await this.opened()).submit(op)));
  }

  async #watch<T>(conversation: Conversation, work: Promise<T>, signal: AbortSignal): Promise<WithEvents<T>> {
    const msgs: EventMsg[] = [];
    const listener = (msg: EventMsg): void => void msgs.push(msg);
    const interrupt = (): void => void conversation.interrupt().catch(() => undefined);
    this.#listeners.add(listener);
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      const result = await work;
      // The events of the work were published before its answer.
      await new Promise((resolve) => setImmediate(resolve));
      return { result, msgs };
    } finally {
      signal.removeEventListener("abort", interrupt);
      this.#listeners.delete(listener);
    }
  }

  /** Ends it: its running turn is interrupted, and it is saved. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
    await this.#conversation?.shutdown();
    await this.#reading;
  }

  async #withdraw(input: WaitingInput): Promise<boolean> {
    // It may still be on its way.
    await this.#sending;
    const { submissionId } = input;
    if (submissionId === undefined || this.#conversation === undefined) return false;
    this.#withdrawn.add(submissionId);
    const isBack = await this.#conversation.withdraw(submissionId).catch(() => false);
    if (!isBack) this.#withdrawn.delete(submissionId);
    else this.#forget(submissionId);
    return isBack;
  }

  #forget(submissionId: string): void {
    this.#waiting = this.#waiting.filter((input) => input.submissionId !== submissionId);
    this.#parts.onChange(this);
  }

  #send(work: () => Promise<unknown>, input?: WaitingInput): void {
    this.#sending = this.#sending.then(work).catch((error: unknown) => this.#fail(error, input));
  }

  #fail(error: unknown, input?: WaitingInput): void {
    this.#waiting = this.#waiting.filter((each) => each !== input);
    // The request was closed, for example by a timeout, while the answer was on its way.
    const isLate = error instanceof FailureError && error.code === "invalid_request";
    if (!isLate) {
      const text = describeError(error).lines.join("\n");
      this.state.add({ type: "notice", kind: "error", text: text.replace(/^✗ /, "") });
    }
    if (this.#conversation?.openTurn === undefined) this.state.idle();
    this.#parts.onChange(this);
  }

  #read(conversation: Conversation): void {
    this.#reading = this.#readAll(conversation).catch((error: unknown) => this.#fail(error));
  }

  async #readAll(conversation: Conversation): Promise<void> {
    for await (const event of conversation.events({ lossless: true })) this.#receive(event);
    if (this.#isClosed) return;
    this.state.idle();
    this.state.add({ type: "notice", kind: "error", text: "This conversation has ended. To continue it: /resume" });
    this.#parts.onChange(this);
  }

  #receive(event: Event): void {
    const { id, msg } = event;
    // A withdrawn input ends with an error, which the person has caused.
    if (msg.type === "error" && this.#withdrawn.delete(id)) return;
    if (msg.type === "user_message" || msg.type === "error") {
      this.#begun.add(id);
      this.#forget(id);
    }
    if (msg.type === "user_message") this.#about = shortName(msg.message);
    this.state.push(event, this.#parts.now());
    // An interrupt that came too late for the turn before says nothing about this one.
    if (msg.type === "task_started") this.#isInterrupted = false;
    if (msg.type === "task_complete" || msg.type === "turn_aborted") {
      this.#isInterrupted = false;
      this.#begun.clear();
      // The next input of the queue begins at once.
      if (this.#waiting.length > 0) this.state.begin("Sending", this.#parts.now());
    }
    for (const listener of this.#listeners) listener(msg);
    this.#parts.onEvent(this, msg);
    this.#parts.onChange(this);
  }
}

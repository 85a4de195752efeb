import type { Conversation } from "../../../actors/conversation/handle.js";
import type { EventMsg } from "../../../messages/event.js";
import type { Workspace } from "../../workspace.js";
import { ScreenConversation } from "./screen-conversation.js";

/** Alt-1 to Alt-9. */
const maxKeys = 9;

interface OpenConversationsParts {
  readonly workspace: Workspace;
  readonly now: () => number;
  readonly onChange: (conversation: ScreenConversation) => void;
  readonly onEvent: (conversation: ScreenConversation, msg: EventMsg) => void;
}

/** The conversations of this process, of which one is on the screen. */
export class OpenConversations {
  readonly #parts: OpenConversationsParts;
  #all: ScreenConversation[] = [];
  current: ScreenConversation;

  constructor(parts: OpenConversationsParts) {
    this.#parts = parts;
    this.current = this.create();
  }

  get all(): readonly ScreenConversation[] {
    return this.#all;
  }

  /** Adds a new conversation, which is not shown yet. */
  create(): ScreenConversation {
    const { workspace, now, onChange, onEvent } = this.#parts;
    const conversation = new ScreenConversation({
      workspace,
      now,
      onChange,
      onEvent,
      onOpened: (opened: Conversation) => this.#opened(conversation, opened),
    });
    this.#all.push(conversation);
    return conversation;
  }

  /** Removes one from the list; it must be closed by the caller. */
  remove(conversation: ScreenConversation): void {
    this.#all = this.#all.filter((each) => each !== conversation);
  }

  find(id: string): ScreenConversation | undefined {
    return this.#all.find((conversation) => conversation.id === id);
  }

  /** The conversation that a key with Alt means: a number, `n` for the next one, `p` for the one before. */
  byKey(name: string): ScreenConversation | undefined {
    const number = Number(name);
    if (Number.isInteger(number) && number >= 1 && number <= maxKeys) return this.#all[number - 1];
    const by = name === "n" ? 1 : name === "p" ? -1 : 0;
    if (by === 0 || this.#all.length < 2) return undefined;
    const index = this.#all.indexOf(this.current) + by;
    return this.#all[(index + this.#all.length) % this.#all.length];
  }

  titleOf(conversation: ScreenConversation): string {
    return `${this.#all.indexOf(conversation) + 1} ${conversation.title}`;
  }

  async #opened(conversation: ScreenConversation, opened: Conversation): Promise<void> {
    if (conversation === this.current) await this.#parts.workspace.makeActive(opened);
  }
}

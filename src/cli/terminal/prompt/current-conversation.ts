import type { Conversation } from "../../../actors/conversation/handle.js";
import { newConversationId } from "../../../actors/conversation/open/open-conversation.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import type { Choice } from "../../conversations/choose-conversation.js";
import type { CommandContext } from "../../context.js";
import { type ActivityOutput, rendererFor } from "../render.js";
import { type PlayOptions, TurnPlayer, type TurnOutcome } from "../turn-player.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { Target, Workspace } from "../../workspace.js";
import {
  changeSettings,
  type PromptConversation,
  type ResumeOptions,
  type SettingsChange,
  type ShownSettings,
  statusOf,
  type Surroundings,
  surroundingsOf,
} from "./prompt-conversation.js";

/** The parts an interactive conversation needs to play turns. */
interface ConversationParts {
  readonly context: CommandContext;
  readonly workspace: Workspace;
  readonly activity: ActivityOutput;
}

/** The conversation of an interactive run. A new one has an id at once, and a file after the first message. */
export class CurrentConversation implements PromptConversation {
  #id: string;
  #player: TurnPlayer | undefined;
  readonly #context: CommandContext;
  readonly #workspace: Workspace;
  readonly #activity: ActivityOutput;
  #plan: ShownSettings;
  /** The settings that were chosen before the first message. */
  #chosen: ConversationConfig = {};

  private constructor({ context, workspace, activity }: ConversationParts, plan: ShownSettings) {
    this.#context = context;
    this.#workspace = workspace;
    this.#activity = activity;
    this.#plan = plan;
    this.#id = newConversationId();
  }

  static async open(surroundings: ConversationParts, choice: Choice): Promise<CurrentConversation> {
    const { context, workspace } = surroundings;
    if (choice.type === "new") {
      const plan = workspace.plan();
      if (choice.why !== undefined) await context.tell(`${choice.why}: starting a new one`);
      if (plan.notice !== undefined) await context.tell(plan.notice);
      return new CurrentConversation(surroundings, workspace.plannedSettings());
    }
    const conversation = await workspace.resume(choice, { allowEmpty: true });
    if (conversation.notice !== undefined) await context.tell(conversation.notice);
    const current = new CurrentConversation(surroundings, conversation.settings);
    await current.#setConversation(conversation);
    return current;
  }

  get id(): string {
    return this.#id;
  }

  get workspace(): Workspace {
    return this.#workspace;
  }

  get surroundings(): Surroundings {
    return surroundingsOf(this.#workspace);
  }

  /** Undefined before the first message. */
  get begun(): TurnPlayer | undefined {
    return this.#player;
  }

  get settings(): ShownSettings {
    return this.#player?.conversation.settings ?? this.#plan;
  }

  get labels(): { readonly provider: string; readonly model: string } {
    return this.settings;
  }

  get status() {
    return statusOf(this);
  }

  /** Counts the messages of the user and the model. */
  async countMessages(): Promise<number> {
    const history = (await this.#player?.conversation.readHistory()) ?? [];
    return history.filter((item) => isRealUserMessage(item) || (item.type === "message" && item.role === "assistant"))
      .length;
  }

  /** Shows the pending events of a resumed conversation and finishes its open turn. */
  async begin(options: PlayOptions): Promise<TurnOutcome | undefined> {
    return await this.#player?.open(options);
  }

  async player(): Promise<TurnPlayer> {
    if (this.#player !== undefined) return this.#player;
    const { conversation } = await this.#workspace.create({ ...this.#chosen, id: this.#id });
    return await this.#setConversation(conversation);
  }

  async change(change: SettingsChange): Promise<void> {
    const conversation = this.#player?.conversation;
    if (conversation === undefined) {
      this.#chosen = { ...this.#chosen, ...change };
      this.#plan = { ...this.#plan, ...change };
      return;
    }
    const changed = await changeSettings(conversation, this.#workspace, change);
    if (changed !== conversation) await this.#setConversation(changed);
  }

  async resume(target: Target, options: ResumeOptions = {}): Promise<void> {
    const old = this.#player?.conversation;
    const conversation = await this.#workspace.resume(target, { allowEmpty: true, ...options });
    if (conversation === old) return;
    await this.#setConversation(conversation);
    await old?.shutdown();
  }

  /** Leaves the conversation unchanged and starts another. */
  async clear(): Promise<void> {
    const old = this.#player;
    this.#player = undefined;
    this.#id = newConversationId();
    this.#context.about(this.#id);
    await old?.conversation.shutdown();
  }

  /** Leaves the conversation unchanged and continues in a copy. */
  async fork(afterTurn: number | undefined): Promise<void> {
    const old = this.#player;
    const options = afterTurn === undefined ? {} : { afterTurn };
    await this.#setConversation((await this.#workspace.fork({ id: this.#id }, options)).conversation);
    await old?.conversation.shutdown();
  }

  async #setConversation(conversation: Conversation): Promise<TurnPlayer> {
    this.#id = conversation.id;
    this.#player = new TurnPlayer(conversation, rendererFor(this.#context, this.#activity));
    await this.#workspace.makeActive(conversation);
    return this.#player;
  }
}

import type { Conversation } from "../../../actors/conversation/handle.js";
import { newConversationId } from "../../../actors/conversation/open/open-conversation.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import type { Choice } from "../../conversations/choose-conversation.js";
import type { CommandContext } from "../../context.js";
import { type ActivityOutput, rendererFor } from "../render.js";
import { type PlayOptions, TurnPlayer, type TurnOutcome } from "../turn-player.js";
import type { Workspace } from "../../workspace.js";

interface ConversationStatus {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly tokens: number;
  /** In US dollars, if the model's price is known. */
  readonly cost: number | undefined;
  readonly file: string | null;
}

/** The parts an interactive conversation needs to play turns. */
interface Surroundings {
  readonly context: CommandContext;
  readonly workspace: Workspace;
  readonly activity: ActivityOutput;
}

/** The conversation of an interactive run. A new one has an id at once, and a file after the first message. */
export class CurrentConversation {
  #id: string;
  #player: TurnPlayer | undefined;
  readonly #context: CommandContext;
  readonly #workspace: Workspace;
  readonly #activity: ActivityOutput;
  readonly #plan: { readonly provider: string; readonly model: string };

  private constructor({ context, workspace, activity }: Surroundings, plan: CurrentConversation["labels"]) {
    this.#context = context;
    this.#workspace = workspace;
    this.#activity = activity;
    this.#plan = plan;
    this.#id = newConversationId();
  }

  static async open(surroundings: Surroundings, choice: Choice): Promise<CurrentConversation> {
    const { context, workspace } = surroundings;
    if (choice.type === "new") {
      const plan = workspace.plan();
      if (choice.why !== undefined) await context.tell(`${choice.why}: starting a new one`);
      if (plan.notice !== undefined) await context.tell(plan.notice);
      return new CurrentConversation(surroundings, plan);
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

  /** The places where this conversation and the others of its project are stored. */
  get surroundings(): { readonly places: ConversationPlaces; readonly projectRoot: string; readonly enabled: boolean } {
    const { places, key, config } = this.#workspace;
    return { places, projectRoot: key.projectRoot, enabled: config.persistence.enabled };
  }

  /** Undefined before the first message. */
  get begun(): TurnPlayer | undefined {
    return this.#player;
  }

  get labels(): { readonly provider: string; readonly model: string } {
    return this.#player?.conversation.settings ?? this.#plan;
  }

  get status(): ConversationStatus {
    const conversation = this.#player?.conversation;
    return {
      id: this.#id,
      provider: this.labels.provider,
      model: this.labels.model,
      turns: conversation?.turns ?? 0,
      tokens: conversation?.usage?.total_token_usage.total_tokens ?? 0,
      cost: conversation?.usage?.cost?.total_usd,
      file: conversation?.rolloutPath ?? null,
    };
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
    const { conversation } = await this.#workspace.create({ id: this.#id });
    return await this.#setConversation(conversation);
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

import type { Conversation } from "../../../actors/conversation/handle.js";
import type { ConversationPlaces } from "../../../config/paths.js";
import type { Settings } from "../../../messages/actors/conversation.js";
import { sandboxPolicy } from "../../../messages/tools/policy.js";
import { CommandError, exitCodes } from "../../command-error.js";
import type { Target, Workspace } from "../../workspace.js";
import type { WithEvents } from "../turn-player.js";

/** A conversation that exists, and how its work is shown. */
export interface ConversationAtWork {
  readonly conversation: Conversation;
  /** Shows events while work other than a turn runs; aborting the signal interrupts it. */
  watch<T>(work: Promise<T>, signal: AbortSignal): Promise<WithEvents<T>>;
}

export interface ConversationStatus {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly tokens: number;
  /** In US dollars, if the model's price is known. */
  readonly cost: number | undefined;
  readonly file: string | null;
}

/** The conversation of a prompt, as slash commands use it. */
export interface PromptConversation {
  readonly id: string;
  readonly workspace: Workspace;
  readonly surroundings: Surroundings;
  /** Undefined before the first message. */
  readonly begun: ConversationAtWork | undefined;
  readonly labels: { readonly provider: string; readonly model: string };
  readonly status: ConversationStatus;
  /** The settings of the next turn. */
  readonly settings: ShownSettings;
  player(): Promise<ConversationAtWork>;
  /** Changes the settings of the following turns. Rejects while a turn runs if the provider changes. */
  change(change: SettingsChange): Promise<void>;
  /** Leaves the conversation unchanged and continues another one. */
  resume(target: Target, options?: ResumeOptions): Promise<void>;
  /** Leaves the conversation unchanged and starts another. */
  clear(): Promise<void>;
  /** Leaves the conversation unchanged and continues in a copy. */
  fork(afterTurn: number | undefined): Promise<void>;
}

export type ShownSettings = Pick<Settings, "provider" | "model" | "effort" | "cwd" | "approvalPolicy" | "sandbox">;

export type SettingsChange = Partial<Pick<Settings, "provider" | "model" | "approvalPolicy" | "sandbox">>;

/** `recorded`: in the folder in which it was, also if that belongs to another project. */
export type ResumeOptions = { readonly cwd?: "recorded" };

/**
 * Changes the settings of a conversation; resolves with the handle to use from now on, which is another one if the
 * provider has changed, because a conversation has the connections of one provider.
 */
export async function changeSettings(
  conversation: Conversation,
  workspace: Workspace,
  { provider, model, approvalPolicy, sandbox }: SettingsChange,
): Promise<Conversation> {
  const isOther = provider !== undefined && provider !== conversation.settings.provider;
  if (!isOther) {
    await conversation.submit({
      type: "override_turn_context",
      ...(model === undefined ? {} : { model }),
      ...(approvalPolicy === undefined ? {} : { approval_policy: approvalPolicy }),
      ...(sandbox === undefined ? {} : { sandbox_policy: sandboxPolicy(sandbox) }),
    });
    return conversation;
  }
  const { id, openTurn, rolloutPath } = conversation;
  if (openTurn !== undefined)
    throw refusal("The provider cannot change while a turn runs. Wait for its end, or press Esc");
  if (rolloutPath === null) throw refusal("The provider cannot change: this conversation is not saved. Use /new");
  await conversation.shutdown();
  return await workspace.resume({ id }, { allowEmpty: true, provider, ...(model === undefined ? {} : { model }) });
}

function refusal(message: string): CommandError {
  return new CommandError(`✗ ${message}`, exitCodes.failed);
}

/** The places where a conversation and the others of its project are stored. */
export interface Surroundings {
  readonly places: ConversationPlaces;
  readonly projectRoot: string;
  readonly enabled: boolean;
}

export function surroundingsOf({ places, key, config }: Workspace): Surroundings {
  return { places, projectRoot: key.projectRoot, enabled: config.persistence.enabled };
}

export function statusOf({
  id,
  labels,
  begun,
}: Pick<PromptConversation, "id" | "labels" | "begun">): ConversationStatus {
  const conversation = begun?.conversation;
  return {
    id,
    provider: labels.provider,
    model: labels.model,
    turns: conversation?.turns ?? 0,
    tokens: conversation?.usage?.total_token_usage.total_tokens ?? 0,
    cost: conversation?.usage?.cost?.total_usd,
    file: conversation?.rolloutPath ?? null,
  };
}

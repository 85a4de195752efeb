import type { ConversationConfig } from "../../../messages/conversation-config.js";
import { recordedConfig } from "./resolve-settings.js";
import type { Settings } from "../state/settings.js";
import type { ConversationState } from "../state/state.js";

/** Whether the caller asks for a provider, a model, an API or a policy that the rollout does not say already. */
export function isNewChoice(state: ConversationState, settings: Settings, asked: ConversationConfig): boolean {
  const { provider, api, model, approvalPolicy, sandbox } = asked;
  const last = state.turnContext ?? state.metadata;
  const recorded = recordedConfig(state);
  const isOther =
    (provider !== undefined || model !== undefined) &&
    (last?.provider !== settings.provider || last.model !== settings.model);
  const isOtherApi = api !== undefined && settings.isApiChosen === true && recorded.api !== api;
  const isOtherPolicy =
    state.turnContext !== undefined &&
    ((approvalPolicy !== undefined && recorded.approvalPolicy !== settings.approvalPolicy) ||
      (sandbox !== undefined && recorded.sandbox !== sandbox));
  return isOther || isOtherApi || isOtherPolicy;
}

/** Nobody has said anything; a history that was cleared had something to clear. */
export function isEmpty({ history, turns, isReplaced }: ConversationState): boolean {
  return history.length === 0 && turns === 0 && !isReplaced;
}

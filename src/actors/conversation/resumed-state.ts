import type { ConversationConfig } from "../../messages/conversation-config.js";
import type { Settings } from "./settings.js";
import type { ConversationState } from "./state.js";

/** Whether somebody asks for another provider or model than the last turn was played with. */
export function isNewChoice(
  state: ConversationState,
  { provider, model }: Settings,
  asked: ConversationConfig,
): boolean {
  if (asked.provider === undefined && asked.model === undefined) return false;
  return (
    state.turnContext !== undefined && (state.turnContext.provider !== provider || state.turnContext.model !== model)
  );
}

/** Nobody has said anything; a history that was cleared had something to clear. */
export function isEmpty({ history, turns, isReplaced }: ConversationState): boolean {
  return history.length === 0 && turns === 0 && !isReplaced;
}

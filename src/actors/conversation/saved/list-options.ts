import type { ConversationMetadata } from "../../../rollouts/list/conversation-metadata.js";
import type { Conversation } from "../handle.js";

export interface ListOptions {
  readonly project?: string;
  readonly limit?: number;
}

/** Lists all saved and live conversations, newest first. */
export function listed(
  saved: readonly ConversationMetadata[],
  live: readonly Conversation[],
  now: Date,
  { project, limit }: ListOptions,
): ConversationMetadata[] {
  const known = new Set(saved.map(({ id }) => id));
  const unsaved = live.filter(({ id }) => !known.has(id)).map((conversation) => metadataOf(conversation, now));
  return [...saved, ...unsaved]
    .filter(({ cwd }) => project === undefined || cwd === project)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, limit);
}

function metadataOf(live: Conversation, now: Date): ConversationMetadata {
  const { provider, model, cwd } = live.settings;
  const marks = {
    ...(live.name === undefined ? {} : { name: live.name }),
    ...(live.pinned ? ({ pinned: true } as const) : {}),
  };
  return { id: live.id, updatedAt: now.getTime(), provider, model, cwd, empty: live.turns === 0, ...marks };
}

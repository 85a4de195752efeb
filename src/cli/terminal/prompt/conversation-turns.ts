import type { Conversation } from "../../../actors/conversation/handle.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { messageText } from "../../../messages/response-item.js";
import { readRollout } from "../../../rollouts/file/read.js";
import { TurnEnds } from "../../../rollouts/turns.js";

/** A turn of a saved conversation. */
export interface SavedTurn {
  /** Counted from 1, as `/fork` counts. */
  readonly number: number;
  /** The message that began it. */
  readonly title: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
}

/** The turns of a conversation from its file; empty if it is not saved. */
export async function readTurns(conversation: Conversation): Promise<SavedTurn[]> {
  const { id, rolloutPath } = conversation;
  if (rolloutPath === null) return [];
  await conversation.flush();
  const ends = new TurnEnds();
  const turns: SavedTurn[] = [];
  for await (const { line } of readRollout(rolloutPath, id)) {
    ends.add(line);
    turns.length = Math.min(turns.length, ends.turns);
    if (turns.length < ends.turns) {
      turns.push({ number: ends.turns, title: "", at: "timestamp" in line ? Date.parse(line.timestamp) : 0 });
    }
    const last = turns.at(-1);
    if (last?.title === "" && line.type === "response_item" && isRealUserMessage(line.payload)) {
      turns[turns.length - 1] = { ...last, title: messageText(line.payload) };
    }
  }
  return turns;
}

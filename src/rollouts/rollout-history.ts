import { realpath } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../messages/errors.js";
import type { ResponseItem } from "../messages/response-item.js";
import { applyToHistory } from "./history.js";
import { readRollout } from "./read.js";
import { rolloutId } from "./rollout-id.js";

/** A conversation as its rollout has it. */
export interface RolloutHistory {
  readonly conversationId: string;
  /** What the model would see; all that was ever said is in the file. */
  readonly history: ResponseItem[];
  readonly rolloutPath: string;
}

/** Reads a rollout wherever it lies, and changes nothing. What a crash left of its last line is passed over. */
export async function getRolloutHistory(path: string): Promise<RolloutHistory> {
  const rolloutPath = await realpath(path).catch(() => undefined);
  if (rolloutPath === undefined) throw new ConversationNotFoundError(path);
  const conversationId = await rolloutId(rolloutPath);
  if (conversationId === undefined) throw new InvalidInputError(`${path} does not say which conversation it is`);
  const history: ResponseItem[] = [];
  for await (const { line } of readRollout(rolloutPath, conversationId)) applyToHistory(history, line);
  return { conversationId, history, rolloutPath };
}

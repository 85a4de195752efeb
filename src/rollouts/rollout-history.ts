import { realpath } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../base/errors.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { RolloutLine } from "../messages/rollout-line.js";
import { applyToHistory } from "./file/history.js";
import { readRollout } from "./file/read.js";
import { rolloutId } from "./rollout-id.js";

/** A conversation as recorded in its rollout. */
export interface RolloutHistory {
  readonly conversationId: string;
  /** Every recorded line in order, including lines of unknown type. */
  readonly items: RolloutLine[];
  /** The history the model would see. */
  readonly history: ResponseItem[];
  readonly rolloutPath: string;
}

/** Reads a rollout at any path without changing it. A torn last line is skipped. */
export async function getRolloutHistory(path: string): Promise<RolloutHistory> {
  const rolloutPath = await realpath(path).catch(() => undefined);
  if (rolloutPath === undefined) throw new ConversationNotFoundError(path);
  const conversationId = await rolloutId(rolloutPath);
  if (conversationId === undefined)
    throw new InvalidInputError(`${path} is not a conversation: its first line has no id`);
  const items: RolloutLine[] = [];
  const history: ResponseItem[] = [];
  const reading = readRollout(rolloutPath, conversationId, (line) => items.push(line));
  for await (const { line } of reading) applyToHistory(history, line);
  return { conversationId, items, history, rolloutPath };
}

import { realpath } from "node:fs/promises";
import { ConversationNotFoundError, InvalidInputError } from "../base/errors.js";
import type { ResponseItem } from "../messages/response-item.js";
import type { RolloutLine } from "../messages/rollout-line.js";
import { applyToHistory } from "./file/history.js";
import { readRollout } from "./file/read.js";
import { rolloutId } from "./rollout-id.js";

/** A conversation as its rollout has it. */
export interface RolloutHistory {
  readonly conversationId: string;
  /** Everything that was written down, in order: every line, also of a type cody does not know. */
  readonly items: RolloutLine[];
  /** What the model would see. */
  readonly history: ResponseItem[];
  readonly rolloutPath: string;
}

/** Reads a rollout wherever it lies, and changes nothing. What a crash left of its last line is passed over. */
export async function getRolloutHistory(path: string): Promise<RolloutHistory> {
  const rolloutPath = await realpath(path).catch(() => undefined);
  if (rolloutPath === undefined) throw new ConversationNotFoundError(path);
  const conversationId = await rolloutId(rolloutPath);
  if (conversationId === undefined) throw new InvalidInputError(`${path} does not say which conversation it is`);
  const items: RolloutLine[] = [];
  const history: ResponseItem[] = [];
  const reading = readRollout(rolloutPath, conversationId, (line) => items.push(line));
  for await (const { line } of reading) applyToHistory(history, line);
  return { conversationId, items, history, rolloutPath };
}

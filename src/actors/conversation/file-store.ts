import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isConversationId } from "../../messages/conversation-id.js";
import { ConversationNotFoundError } from "../../messages/errors.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { findConversation, listConversations } from "../../rollouts/list.js";
import { readRollout } from "../../rollouts/read.js";
import { type RolloutOutbox, unsavedRollout } from "../rollout-writer/outbox.js";
import type { Store, StoredLines } from "./store.js";

/** Conversations as files in one directory; without an outbox they can be read and nothing is written. */
export function fileStore(directory: string, outbox: RolloutOutbox | undefined): Store {
  const pathOf = (conversationId: string): string => {
    if (!isConversationId(conversationId)) throw new ConversationNotFoundError(conversationId);
    return join(directory, `${conversationId}.jsonl`);
  };
  return {
    find: (text) => findConversation(directory, text),
    has: (conversationId) =>
      lstat(pathOf(conversationId)).then(
        () => true,
        () => false,
      ),
    holder: async (conversationId) => outbox?.holder(pathOf(conversationId)),
    read: (conversationId) => fileLines(pathOf(conversationId), conversationId),
    open: async ({ conversationId, mode, force }) =>
      outbox === undefined
        ? { outcome: { status: "open", bytes: 0 }, rollout: unsavedRollout }
        : await outbox.open({ conversationId, path: pathOf(conversationId), mode, force }),
    list: () => listConversations(directory),
    close: async () => outbox?.stop(),
  };
}

function fileLines(path: string, conversationId: string): StoredLines {
  const rollout = readRollout(path, conversationId);
  return {
    end: rollout.end,
    async *[Symbol.asyncIterator](): AsyncGenerator<OwnLine> {
      for await (const { line } of rollout) yield line;
    },
  };
}

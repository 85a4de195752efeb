import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isConversationId } from "../../messages/conversation-id.js";
import { ConversationNotFoundError } from "../../messages/errors.js";
import { findConversation, listConversations } from "../../rollouts/list.js";
import type { CpuPool } from "../../workers/open-cpu-pool.js";
import { type RolloutOutbox, unsavedRollout } from "../rollout-writer/outbox.js";
import { fileLines } from "./file-lines.js";
import { foldLines } from "./fold-lines.js";
import { loadInThread } from "./load-in-thread.js";
import type { Store } from "./store.js";

/** A larger file is read in a thread; to start one for a smaller would take longer than to read it. */
const maxOwnBytes = 4 * 1024 * 1024;

/** Conversations as files in one directory; without an outbox they can be read and nothing is written. */
export function fileStore(directory: string, outbox: RolloutOutbox | undefined, pool: CpuPool): Store {
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
    load: async (conversationId) => {
      const path = pathOf(conversationId);
      const isLarge = await lstat(path).then(
        ({ size }) => size > maxOwnBytes,
        () => false,
      );
      const loaded = isLarge ? await loadInThread(pool, path, conversationId) : undefined;
      return loaded ?? (await foldLines(fileLines(path, conversationId)));
    },
    open: async ({ conversationId, mode, force }) =>
      outbox === undefined
        ? { outcome: { status: "open", bytes: 0 }, rollout: unsavedRollout }
        : await outbox.open({ conversationId, path: pathOf(conversationId), mode, force }),
    list: () => listConversations(directory),
    close: async () => outbox?.stop(),
  };
}

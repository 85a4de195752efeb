import { isConversationId } from "../../messages/conversation-id.js";
import { ConversationNotFoundError, InvalidInputError } from "../../messages/errors.js";
import type { OwnLine } from "../../messages/rollout-line.js";
import { firstLine } from "../../rollouts/first-line.js";
import { linesOfTurn } from "../../rollouts/turns.js";
import { recorderRollout, type TurnRecorder } from "../rollout-writer/recorder.js";
import { foldLines } from "./fold-lines.js";
import type { Store, StoredLines } from "./store.js";

/** Conversations wherever an injected recorder keeps them, one call for each turn. */
export function recorderStore(recorder: TurnRecorder): Store {
  async function has(conversationId: string): Promise<boolean> {
    return (await recorder.list()).some(({ id }) => id === conversationId);
  }

  return {
    find: async (text) => {
      if (!isConversationId(text)) throw new ConversationNotFoundError(text);
      return text;
    },
    adopt: async () => {
      throw new InvalidInputError("a recorder keeps conversations: there are no files");
    },
    has,
    kept: async (conversationId) => ((await has(conversationId)) ? {} : undefined),
    holder: async () => undefined,
    read: (conversationId) => turnLines(recorder, conversationId),
    load: (conversationId) => foldLines(turnLines(recorder, conversationId)),
    open: async ({ conversationId, provider, model }) => ({
      outcome: { status: "open", bytes: 0 },
      rollout: recorderRollout(recorder, conversationId, { provider, model }),
    }),
    indexName: async () => ({ status: "off" }),
    indexPin: async () => ({ status: "off" }),
    list: async () => await recorder.list(),
    close: async () => undefined,
  };
}

function turnLines(recorder: TurnRecorder, conversationId: string): StoredLines {
  return {
    end: { bytes: 0, skipped: 0 },
    async *[Symbol.asyncIterator](): AsyncGenerator<OwnLine[]> {
      const turns = await recorder.readRollout(conversationId);
      const [first] = turns;
      if (first === undefined) return;
      // What a file says in its first line, the first turn says in its metadata.
      const { provider = "unknown", model = "unknown" } = first.metadata ?? {};
      const now = new Date(first.timestamp);
      yield [firstLine({ conversationId, now, cwd: "/", provider, model, source: "non_interactive" })];
      for (const turn of turns) yield linesOfTurn(turn, turn.timestamp);
    },
  };
}

import { ConversationNotFoundError, CorruptedRolloutError } from "../../src/base/errors.js";
import type { RolloutTurn } from "../../src/rollouts/turns.js";
import type { TurnRecorder } from "../../src/actors/rollout-writer/recorder.js";

export interface MockRecorder extends TurnRecorder {
  /** How many turns were appended. */
  readonly appended: () => number;
  getBuffer(id: string): string;
  setBuffer(id: string, content: string): void;
}

/** Stores JSONL in memory, one line per turn, as the seed document's mock does. */
export function createMockRecorder(options: { readonly failWith?: string } = {}): MockRecorder {
  const buffers = new Map<string, string>();
  let appended = 0;

  function turnsOf(id: string): RolloutTurn[] {
    const content = buffers.get(id);
    if (content === undefined) throw new ConversationNotFoundError(id);
    const lines = content.split("\n").filter((line) => line !== "");
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as RolloutTurn;
      } catch {
        throw new CorruptedRolloutError(id, index + 1, "cannot be parsed as JSON");
      }
    });
  }

  return {
    appended: () => appended,
    appendTurn: async (id, turn) => {
      if (options.failWith !== undefined) throw new Error(options.failWith);
      appended += 1;
      buffers.set(id, `${buffers.get(id) ?? ""}${JSON.stringify(turn)}\n`);
    },
    appendCompacted: async (id, record) => {
      buffers.set(id, `${buffers.get(id) ?? ""}${JSON.stringify({ type: "compacted", ...record })}\n`);
    },
    readRollout: async (id) => turnsOf(id),
    list: async () =>
      [...buffers.keys()].map((id) => {
        const turns = turnsOf(id);
        return { id, updatedAt: turns.at(-1)?.timestamp ?? 0, ...labels(turns[0]) };
      }),
    getBuffer: (id) => buffers.get(id) ?? "",
    setBuffer: (id, content) => {
      buffers.set(id, content);
    },
  };
}

function labels(turn: RolloutTurn | undefined): { provider?: string; model?: string } {
  const { provider, model } = turn?.metadata ?? {};
  return { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
}

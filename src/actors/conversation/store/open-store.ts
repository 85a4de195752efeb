import { homedir } from "node:os";
import { gitUser } from "../../../base/git/git-user.js";
import { type Homes, conversationPlaces } from "../../../config/paths.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import type { LearningRedactor } from "../../../config/secrets/text-redactor.js";
import type { Config } from "../../../messages/settings/config.js";
import { isConversationId } from "../../../base/text/conversation-id.js";
import { InvalidInputError, ConversationNotFoundError, CorruptedRolloutError } from "../../../base/errors.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { lineObject } from "../../../rollouts/file/lines.js";
import { sessionMetaLine } from "../../../rollouts/file/encode.js";
import { detectLineFormat, isoTime } from "../../../rollouts/formats/lines/detect-format.js";
import { turnLines, turnMetadata } from "../../../rollouts/formats/lines/foreign-line-reader.js";
import type { CpuPool } from "../../../workers/cpu-pool.js";
import { CodexLocks } from "../../rollout-writer/rollout-locks.js";
import { openOutbox } from "../../rollout-writer/outbox.js";
import { recorderRollout, type TurnRecorder } from "../../rollout-writer/recorder.js";
import type { ManagerOptions } from "../open/manager-options.js";
import { fileStore } from "./file-store.js";
import { foldLines } from "./load-rollout.js";
import type { Store, StoredLines } from "./store.js";

interface StoreParts {
  readonly homes: Homes;
  readonly cpu: CpuPool;
  readonly redactor: LearningRedactor;
}

/** Opens a manager's store: the injected recorder, else files. */
export function openStore(options: ManagerOptions, config: Config, { homes, cpu, redactor }: StoreParts): Store {
  const { env = {}, outbox, recorder } = options;
  if (recorder !== undefined) return recorderStore(recorder);
  const places = conversationPlaces({
    home: homes.home,
    codexHome: homes.codexHome,
    persistence: config.persistence,
  });
  const writer = effectiveSetting(config, "persistence.enabled") ? (outbox ?? openOutbox(env)) : undefined;
  const codex = places.codexHome;
  const codexLocks = codex === undefined ? undefined : new CodexLocks({ codexHome: codex, searchPath: env["PATH"] });
  const maxBlobBytes = effectiveSetting(config, "persistence.maxBlobMegabytes") * 1_000_000;
  return fileStore({
    places,
    outbox: writer,
    codexLocks,
    pool: cpu,
    redactor,
    secrets: redactor.secrets,
    gitUser: gitUser({ env, homedir }),
    maxBlobBytes,
  });
}

/** Stores conversations in an injected recorder, with one call for each turn. */
function recorderStore(recorder: TurnRecorder): Store {
  async function has(conversationId: string): Promise<boolean> {
    return (await recorder.list()).some(({ id }) => id === conversationId);
  }

  return {
    find: async (text) => {
      if (!isConversationId(text)) throw new ConversationNotFoundError(text);
      return text;
    },
    adopt: async () => {
      throw new InvalidInputError("conversations are stored by a recorder, not in files");
    },
    has,
    findInOwnDirectory: async (conversationId) => ((await has(conversationId)) ? {} : undefined),
    holder: async () => undefined,
    read: (conversationId) => storedLines(recorder, conversationId),
    load: (conversationId) => foldLines(storedLines(recorder, conversationId)),
    open: async ({ conversationId, provider, model }) => ({
      outcome: { status: "open", bytes: 0 },
      rollout: recorderRollout(recorder, conversationId, { provider, model }),
    }),
    indexName: async () => ({ status: "off" }),
    indexPin: async () => ({ status: "off" }),
    list: async () => await recorder.list(),
    // A recorder gets a turn when it has ended.
    pendingApprovals: async () => [],
    pendingApproval: async () => undefined,
    close: async () => undefined,
  };
}

/** The lines of a conversation as returned by its recorder: whole turns, and the summaries of compactions. */
function storedLines(recorder: TurnRecorder, conversationId: string): StoredLines {
  const end = { bytes: 0, skipped: 0 };
  return {
    end,
    async *[Symbol.asyncIterator](): AsyncGenerator<OwnLine[]> {
      end.skipped = 0;
      const records: unknown = await recorder.readRollout(conversationId);
      if (!Array.isArray(records)) throw new InvalidInputError("recorder.readRollout: expected a list of turns");
      if (records.length === 0) return;
      yield [metaLine(conversationId, records)];
      for (const [index, record] of records.entries()) {
        const value = lineObject(record);
        if (value === undefined || detectLineFormat(value) !== "turn") {
          const detail = "neither a turn (items) nor a compaction (summary)";
          throw new CorruptedRolloutError(conversationId, index + 1, detail);
        }
        const { lines, whole } = turnLines(value, `${conversationId}-${index + 1}`);
        if (!whole) end.skipped += 1;
        yield [...lines];
      }
    },
  };
}

/** A recorder has no first line, so it is built from the first turn's metadata. */
function metaLine(conversationId: string, records: readonly unknown[]): OwnLine {
  const turns = records.flatMap((record) => lineObject(record) ?? []);
  const labels = turns.map(turnMetadata).find(({ provider }) => provider !== undefined) ?? {};
  const now = new Date(isoTime(turns[0]?.["timestamp"]));
  const { provider = "unknown", model = "unknown" } = labels;
  return sessionMetaLine({ conversationId, now, cwd: "/", provider, model, source: "non_interactive" });
}

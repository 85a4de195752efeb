import { messageText, type ResponseItem } from "../../../messages/response-item.js";
import type { OwnLine, SessionMeta } from "../../../messages/rollout-line.js";
import type { SandboxPolicy } from "../../../messages/tools/policy.js";
import { isRealUserMessage } from "../../../base/codex/context-message.js";
import { version } from "../../../version.js";
import { encodeLine } from "../../file/encode.js";
import { legacyLines } from "../../file/legacy-lines.js";
import { codexId } from "../export/export-name.js";
import type { WriterInput, ExportFacts } from "../export/export-facts.js";

/** Writes a rollout that Codex lists and resumes: one self-contained file without lines of a type unknown to Codex. */
export async function* writeCodex({ survey, batches }: WriterInput): AsyncGenerator<string> {
  yield encodeLine(firstLine(survey));
  const events = new MissingEvents(survey.silent);
  const isPaginated = survey.meta?.history_mode === "paginated";
  for await (const batch of batches) {
    for (const line of batch.flatMap(codexLines)) {
      const legacy = isPaginated ? legacyLines(line) : [line];
      for (const each of legacy.flatMap((own) => [own, ...events.eventsAfter(own)])) yield encodeLine(each);
    }
  }
}

/**
 * The source is `cli`, because Codex lists no other by default. The provider is left out, because Codex would look it
 * up in its own configuration, and so is the history base, because the file contains the complete history.
 */
function firstLine({ conversationId, createdAt, provider, model, meta }: ExportFacts): OwnLine {
  const { model_provider: _, history_mode: __, history_base: ___, ...metaFields } = meta ?? unknownMeta;
  const payload = { ...metaFields, id: codexId(conversationId), timestamp: createdAt, source: "cli" };
  // A second id of the same conversation, which newer Codex prefers.
  Reflect.deleteProperty(payload, "session_id");
  const known = provider !== undefined && model !== undefined;
  return {
    timestamp: createdAt,
    type: "session_meta",
    ...(known ? { metadata: { provider, model, format: 1 } } : {}),
    payload,
  };
}

const unknownMeta: SessionMeta = {
  id: "",
  timestamp: "",
  cwd: "/",
  originator: "cody",
  cli_version: version,
  source: "cli",
};

function codexLines(line: OwnLine): OwnLine[] {
  const { timestamp } = line;
  if (line.type === "session_meta") return [];
  if (line.type === "turn_context") {
    return [{ ...line, payload: { ...line.payload, sandbox_policy: withBothNames(line.payload.sandbox_policy) } }];
  }
  if (line.type !== "cody") return [line];
  if (line.payload.type !== "history_replaced") return [];
  // Codex records a replaced history as a compaction.
  return [{ timestamp, type: "compacted", payload: { message: "", replacement_history: line.payload.items } }];
}

/** Writes a policy under both key names, so that every version of Codex can read it. */
function withBothNames(policy: SandboxPolicy): SandboxPolicy {
  const mode = "type" in policy ? policy.type : policy.mode;
  return { ...policy, type: mode, mode };
}

/** Adds events beside items, because Codex lists and shows only items with an event. */
class MissingEvents {
  readonly #silent: ReadonlySet<number>;
  #userMessages = 0;
  #isSilent = false;

  constructor(silent: ReadonlySet<number>) {
    this.#silent = silent;
  }

  eventsAfter(line: OwnLine): OwnLine[] {
    if (line.type !== "response_item") return [];
    const item: ResponseItem = line.payload;
    if (isRealUserMessage(item)) {
      this.#isSilent = this.#silent.has(this.#userMessages);
      this.#userMessages += 1;
      const message = messageText(item);
      return this.#isSilent
        ? [{ timestamp: line.timestamp, type: "event_msg", payload: { type: "user_message", message } }]
        : [];
    }
    if (!this.#isSilent || item.type !== "message" || item.role !== "assistant") return [];
    const message = messageText(item);
    return [{ timestamp: line.timestamp, type: "event_msg", payload: { type: "agent_message", message } }];
  }
}

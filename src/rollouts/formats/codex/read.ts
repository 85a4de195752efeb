import { basename } from "node:path";
import { fieldsOf, textOf } from "../../../base/is-record.js";
import { CorruptedRolloutError, ImportError } from "../../../base/errors.js";
import { bareId } from "../../../base/text/conversation-id.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import { checkLine } from "../../file/check-line.js";
import { findEarlierParts, type RolloutPart } from "../../file/earlier-parts.js";
import { legacyLines } from "../../file/legacy-lines.js";
import type { LineObject } from "../../file/lines.js";
import { idFromFileName } from "../../layout.js";
import {
  type Losses,
  type NumberedObject,
  sourceLines,
  type ReadSource,
  type SourceFacts,
  type SourceFile,
  type SourceRecord,
} from "../import/source.js";
import { nonBlankText } from "../import/parts.js";
import { lineFacts } from "../lines/detect-format.js";
import { ForeignLineReader } from "../lines/foreign-line-reader.js";

/** The model is named in one of the first lines, or not at all. */
const maxFactLines = 1_000;
const secondId = /_([0-9a-f-]{36})\.jsonl$/;

/** Reads lines of Codex, lines of cody and whole turns in one line, which may be mixed in one file. */
export const readRolloutSource: ReadSource = async (file, losses) => ({
  facts: await factsOf(file),
  records: rolloutRecords(file, losses),
});

async function factsOf(file: SourceFile): Promise<SourceFacts> {
  const facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] } = { id: uuidOfName(file.path) };
  for await (const { number, value } of sourceLines(file)) {
    if (value.type === "session_meta" && facts.cwd === undefined) Object.assign(facts, metaFacts(value));
    const { model, provider, createdAt, cwd } = "payload" in value ? contextFacts(value) : lineFacts(value);
    facts.createdAt ??= createdAt;
    facts.cwd ??= cwd;
    facts.provider ??= provider;
    facts.model ??= model;
    if (facts.model !== undefined || number >= maxFactLines) break;
  }
  // After a rollback Codex continues in another file of the same conversation; cody imports it as a separate one.
  return { ...facts, id: secondId.exec(file.path)?.[1] ?? facts.id };
}

/** Returns the UUID in a file name. Any other name is ignored, because names can collide and change. */
function uuidOfName(path: string): string | undefined {
  const id = idFromFileName(basename(path));
  return id === undefined || bareId(id) === id ? undefined : id;
}

function metaFacts(value: LineObject): Partial<SourceFacts> {
  const [payload, metadata] = [fieldsOf(value["payload"]), fieldsOf(value["metadata"])];
  const git = fieldsOf(payload["git"]);
  const recorded = {
    id: textOf(payload["id"]),
    createdAt: textOf(payload["timestamp"]),
    cwd: nonBlankText(payload["cwd"]),
    branch: nonBlankText(git["branch"]),
    commit: nonBlankText(git["commit_hash"]),
    repositoryUrl: nonBlankText(git["repository_url"]),
    provider: nonBlankText(metadata["provider"]) ?? nonBlankText(payload["model_provider"]),
    model: nonBlankText(metadata["model"]),
  };
  return Object.fromEntries(Object.entries(recorded).filter(([, text]) => text !== undefined));
}

function contextFacts({ type, payload }: LineObject): SourceFacts {
  if (type !== "turn_context") return {};
  const { model, provider } = fieldsOf(payload);
  return { model: nonBlankText(model), provider: nonBlankText(provider) };
}

async function* rolloutRecords(file: SourceFile, losses: Losses): AsyncGenerator<SourceRecord> {
  const reading = new RolloutReading(losses);
  let hasStarted = false;
  for await (const line of sourceLines(file, losses)) {
    yield* reading.recordsOf(line.value);
    if (hasStarted || line.value.type !== "session_meta") continue;
    hasStarted = true;
    for (const part of await partsOf(file, line)) {
      for await (const { value } of sourceLines(part, losses)) yield* reading.recordsOf(value);
    }
  }
}

async function partsOf({ path }: SourceFile, { number, value }: NumberedObject): Promise<RolloutPart[]> {
  try {
    return await findEarlierParts(value, { path, conversationId: path, line: number });
  } catch (error) {
    if (error instanceof CorruptedRolloutError) throw new ImportError(path, error.detail);
    throw error;
  }
}

class RolloutReading {
  readonly #losses: Losses;
  readonly #forms = new ForeignLineReader("imported");
  #isPaginated = false;
  #time: string | undefined;

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  recordsOf(value: LineObject): SourceRecord[] {
    const foreign = this.#forms.linesOf(value);
    if (foreign === undefined) return this.#codexRecords(value);
    if (!foreign.whole) this.#losses.count("unknown_parts");
    return foreign.lines.flatMap((line): SourceRecord[] => {
      const { timestamp, type } = line;
      if (type === "response_item") return [{ type: "item", timestamp, item: line.payload }];
      if (type === "compacted") return [{ type: "line", line }];
      // The import writes new turn boundaries, so only the model of each turn is kept.
      if (type !== "turn_context") return [];
      return [{ type: "played_by", by: { provider: line.payload.provider, model: line.payload.model } }];
    });
  }

  #codexRecords(value: LineObject): SourceRecord[] {
    if (fieldsOf(value["payload"])["history_mode"] === "paginated") this.#isPaginated = true;
    // A line without a timestamp was written after the one before it.
    this.#time = textOf(value["timestamp"]) ?? textOf(fieldsOf(value["payload"])["timestamp"]) ?? this.#time;
    const records = codexRecords(value, this.#losses, this.#time);
    if (!this.#isPaginated) return records;
    return records.flatMap((record): SourceRecord[] =>
      record.type === "line" ? legacyLines(record.line).map((line) => ({ type: "line", line })) : [record],
    );
  }
}

/**
 * Imports a line of Codex or cody unchanged, except for metadata of the conversation. `time` is used for lines
 * without a timestamp.
 */
export function codexRecords(value: LineObject, losses: Losses, time?: string): SourceRecord[] {
  // Its facts were read before, leniently, because older versions lack fields.
  if (value.type === "session_meta") return [];
  const { line, isUnderstood } = checkLine(value, time);
  if (!isUnderstood) losses.count("unknown_lines");
  if (line === undefined) return [];
  return line.type === "cody" ? ownRecords(line) : [{ type: "line", line }];
}

function ownRecords(line: Extract<OwnLine, { type: "cody" }>): SourceRecord[] {
  const { payload } = line;
  if (payload.type === "named") return [{ type: "named", name: payload.name }];
  return payload.type === "imported" ? [] : [{ type: "line", line }];
}

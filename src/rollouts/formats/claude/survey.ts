import { ImportError } from "../../../base/errors.js";
import { isRecord, fieldsOf, textOf } from "../../../base/is-record.js";
import type { LineObject } from "../../file/lines.js";
import { nonBlankText } from "../import/parts.js";
import { type KeptRange, EntryPath } from "../import/entry-path.js";
import { type Losses, sourceLines, type SourceFacts, type SourceFile } from "../import/source.js";

const nameTypes = new Set(["custom-title", "ai-title", "summary"]);

/**
 * Result of a first pass through the file. Entries are identified by their position among those outside of
 * sidechains.
 */
export interface ClaudeSurvey {
  readonly facts: SourceFacts;
  readonly name: string | undefined;
  /** For each entry, whether it belongs to the conversation. */
  readonly belongs: readonly boolean[];
  readonly keepings: readonly KeptRange[];
  /** Position of the last line of each model message, because a message has one line per part. */
  readonly lastOf: ReadonlyMap<string, number>;
}

/** The facts that decide whether an entry belongs to the conversation. */
interface Seen {
  readonly messageId: string | undefined;
  readonly calls: readonly string[];
  /** Ids of the calls whose results the entry contains, if it contains nothing else. */
  readonly results: readonly string[];
}

const nothingSeen: Seen = { messageId: undefined, calls: [], results: [] };

export async function surveyClaude(file: SourceFile, losses: Losses): Promise<ClaudeSurvey> {
  const lineage = new EntryPath();
  let isLinked = false;
  const seen: Seen[] = [];
  const compactions: { readonly at: number; readonly kept: readonly string[] }[] = [];
  const facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] } = {};
  const names: { custom?: string | undefined; made?: string | undefined } = {};
  for await (const { value } of sourceLines(file, losses)) {
    noteName(names, value);
    if (!isEntry(value)) continue;
    if (lineage.full) throw new ImportError(file.path, "it has too many entries");
    noteFacts(facts, value);
    const kept = keptUuids(value);
    if (kept !== undefined) compactions.push({ at: lineage.length, kept });
    const parent = parentOf(value);
    isLinked ||= typeof parent === "string";
    lineage.add({ id: textOf(value["uuid"]) ?? `entry ${lineage.length}`, parent });
    seen.push(seenIn(value));
  }
  // Without links between entries there is no tree, only the order of the file.
  const belongs = isLinked ? belongsByEntry(lineage, seen) : seen.map(() => true);
  return {
    facts,
    name: names.custom ?? names.made,
    belongs,
    keepings: compactions.flatMap(({ at, kept }) => keptRange(at, kept, lineage)),
    lastOf: lastOf(seen, belongs),
  };
}

/** Whether a line is an entry; bookkeeping lines have neither an id nor a message. */
export function isEntry(value: LineObject): boolean {
  if (value["isSidechain"] === true || nameTypes.has(value.type)) return false;
  return typeof value["uuid"] === "string" || isClaudeMessage(value);
}

/** Whether a line is a message; in some files the entries have no ids. */
export function isClaudeMessage({ type, message }: Readonly<Record<string, unknown>>): boolean {
  return (type === "user" || type === "assistant") && isRecord(message) && message["role"] === type;
}

function noteName(names: { custom?: string | undefined; made?: string | undefined }, value: LineObject): void {
  if (value.type === "custom-title") names.custom = nonBlankText(value["customTitle"]) ?? names.custom;
  else if (value.type === "ai-title") names.made = nonBlankText(value["aiTitle"]) ?? names.made;
  else if (value.type === "summary") names.made ??= nonBlankText(value["summary"]);
}

function noteFacts(facts: { -readonly [K in keyof SourceFacts]: SourceFacts[K] }, value: LineObject): void {
  facts.id ??= textOf(value["sessionId"]);
  facts.createdAt ??= textOf(value["timestamp"]);
  facts.cwd ??= nonBlankText(value["cwd"]);
  const branch = nonBlankText(value["gitBranch"]);
  if (branch !== "HEAD") facts.branch ??= branch;
  const model = nonBlankText(fieldsOf(value["message"])["model"]);
  if (model === undefined || isSynthetic(model) || facts.model !== undefined) return;
  facts.model = model;
  facts.provider = "anthropic";
}

/** Whether Claude Code itself wrote the message in place of a model. */
export function isSynthetic(model: unknown): boolean {
  return model === "<synthetic>";
}

/**
 * Returns the parent's id. After a compaction the conversation has a new root that names its logical parent. An entry
 * without the key follows the one before it (undefined).
 */
function parentOf(value: LineObject): string | null | undefined {
  const parent = textOf(value["parentUuid"]) ?? textOf(value["logicalParentUuid"]);
  return parent ?? (value["parentUuid"] === undefined ? undefined : null);
}

function keptUuids(value: LineObject): readonly string[] | undefined {
  if (value["isCompactSummary"] !== true && !isBoundary(value)) return undefined;
  const uuids = fieldsOf(fieldsOf(value["compactMetadata"])["preservedMessages"])["uuids"];
  return Array.isArray(uuids) ? uuids.filter((uuid) => typeof uuid === "string") : [];
}

export function isBoundary({ type, subtype }: LineObject): boolean {
  return type === "system" && subtype === "compact_boundary";
}

function seenIn({ type, message }: LineObject): Seen {
  if (type !== "user" && type !== "assistant") return nothingSeen;
  const { id, content } = fieldsOf(message);
  const blocks = (Array.isArray(content) ? content : []).map(fieldsOf);
  if (type === "assistant") {
    return {
      messageId: textOf(id),
      calls: blocks.flatMap(({ type: kind, id: call }) => textsIf(kind === "tool_use", call)),
      results: [],
    };
  }
  const results = blocks.flatMap((block) => textsIf(block["type"] === "tool_result", block["tool_use_id"]));
  return results.length > 0 && results.length === blocks.length ? { ...nothingSeen, results } : nothingSeen;
}

function textsIf(wanted: boolean, value: unknown): string[] {
  return wanted && typeof value === "string" ? [value] : [];
}

/**
 * Marks the entries that lead to the last one, and those beside that path: of parallel calls only the last result
 * continues the path, and the parts of one message may follow different results.
 */
function belongsByEntry(lineage: EntryPath, seen: readonly Seen[]): boolean[] {
  const belongs = lineage.path();
  const messages = new Set(seen.flatMap(({ messageId }, at) => (belongs[at] === true ? (messageId ?? []) : [])));
  for (const [at, { messageId }] of seen.entries()) {
    if (messageId !== undefined && messages.has(messageId)) belongs[at] = true;
  }
  const calls = new Set(seen.flatMap((entry, at) => (belongs[at] === true ? entry.calls : [])));
  for (const [at, { results }] of seen.entries()) {
    if (results.length > 0 && results.every((id) => calls.has(id))) belongs[at] = true;
  }
  return belongs;
}

function keptRange(at: number, kept: readonly string[], lineage: EntryPath): KeptRange[] {
  const positions = new Set(kept.flatMap((uuid) => lineage.positionOf(uuid) ?? []).filter((position) => position < at));
  if (positions.size === 0) return [];
  return [
    {
      at,
      from: [...positions].reduce((first, position) => Math.min(first, position)),
      keeps: (position) => positions.has(position),
    },
  ];
}

function lastOf(seen: readonly Seen[], belongs: readonly boolean[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const [at, { messageId }] of seen.entries()) {
    if (messageId !== undefined && belongs[at] === true) last.set(messageId, at);
  }
  return last;
}

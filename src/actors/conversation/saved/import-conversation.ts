import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { v7 as uuidv7 } from "uuid";
import { ConversationInUseError, ImportError } from "../../../base/errors.js";
import { bareId, shownId } from "../../../base/text/conversation-id.js";
import { shortName } from "../../../base/text/conversation-name.js";
import { FailureError } from "../../../messages/failure-error.js";
import type { OwnLine, ImportOrigin } from "../../../messages/rollout-line.js";
import { encodeLine, sessionMetaLine } from "../../../rollouts/file/encode.js";
import { maxLineBytes } from "../../../rollouts/file/lines.js";
import { TurnCollector } from "../../../rollouts/formats/export/turns.js";
import {
  type ImportFormat,
  sourceId,
  type SourceId,
  type Source,
  type SourceFile,
  type LossReport,
} from "../../../rollouts/formats/import/source.js";
import { openSource } from "../../../rollouts/formats/import/open-source.js";
import { fieldsOf } from "../../../rollouts/formats/import/parts.js";
import { type TurnLinesParts, TurnLines } from "../../../rollouts/formats/import/turn-lines.js";
import { idFromFileName } from "../../../rollouts/layout.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Store } from "../store/store.js";
import { nameLine } from "./saved-conversations.js";

/** Maximum number of lines held back before the first message, until it is known that there is one. */
const maxLinesBefore = 10_000;

const earliestTime = Date.parse("2000-01-01T00:00:00Z");

export interface ImporterParts extends ImportIds {
  readonly store: Store;
  /** Whether persistence is on. */
  readonly saves: boolean;
  readonly thoughts: TurnLinesParts["thoughts"];
  knownProvider(name: string | undefined): string | undefined;
  now(): Date;
}

/** Maximum bytes that wait to be written before more of a long source is read. */
const maxWaitingBytes = 8 * 1024 * 1024;

/** Imports one conversation from a file; with `dryRun`, only reports what would be imported. */
export async function importConversation(
  parts: ImporterParts,
  path: string,
  { from, force = false, dryRun = false }: ImportOptions,
): Promise<ImportResult> {
  if (!parts.saves && !dryRun) throw new ImportError(path, "cannot import: persistence is off");
  const source = await openSource(path, from);
  const { file, format } = source;
  const origin = await sourceId(source);
  const chosen = await chooseImportId(parts, origin, { file, format, force });
  if (chosen.status === "here") return { ...chosen, path, format };
  if (chosen.status === "exists") {
    const { status, conversationId, sourceBytes } = chosen;
    const grown = sourceBytes !== undefined && file.bytes > sourceBytes;
    return { status, path, format, conversationId, complete: sourceBytes !== undefined, grown };
  }
  const { conversationId } = chosen;
  await using carrying = new ImportedLines(parts, source);
  const before = await carrying.begin();
  if (dryRun) {
    await carrying.rest(async () => undefined);
    return carrying.result("would_import", path, conversationId, null);
  }
  const created = carrying.createdAt(before, parts.now());
  const { rollout, first } = await opened(parts, source, { conversationId, created, key: origin.key });
  try {
    for (const line of [first, ...before]) rollout.append(line);
    await carrying.rest(async (line) => append(rollout, line, path));
    const { path: fromPath, bytes } = file;
    const imported = { type: "imported", from: fromPath, source_bytes: bytes, format, id: origin.key } as const;
    rollout.append({ timestamp: parts.now().toISOString(), type: "cody", payload: imported });
    const named = carrying.name === undefined ? undefined : nameLine(carrying.name, parts.now());
    if (named !== undefined) rollout.append(named);
    await saved(rollout, path);
  } finally {
    await rollout.close();
  }
  await indexName(parts, conversationId, carrying.name);
  return carrying.result("imported", path, conversationId, rollout.path);
}

interface Opening {
  readonly conversationId: string;
  readonly created: Date;
  readonly key: string;
}

async function opened(
  parts: ImporterParts,
  source: Source,
  { conversationId, created, key }: Opening,
): Promise<{ rollout: Rollout; first: OwnLine }> {
  const { facts, format } = source;
  const cwd = folderOf(source);
  const labels = { provider: parts.knownProvider(facts.provider) ?? "unknown", model: facts.model ?? "unknown" };
  const { outcome, rollout } = await parts.store.open({
    conversationId,
    mode: "create",
    ...labels,
    now: created,
    cwd,
    force: false,
  });
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
  const { branch, commit, repositoryUrl } = facts;
  const git = {
    ...(commit === undefined ? {} : { commit_hash: commit }),
    ...(branch === undefined ? {} : { branch }),
    ...(repositoryUrl === undefined ? {} : { repository_url: repositoryUrl }),
  };
  const first = sessionMetaLine({
    conversationId: bareId(conversationId),
    now: created,
    cwd,
    ...labels,
    // It was interactive in its original program, and Codex lists only such conversations.
    source: "interactive",
    git: Object.keys(git).length === 0 ? undefined : git,
    imported: { format, id: key },
  });
  return { rollout, first };
}

async function append(rollout: Rollout, line: OwnLine, path: string): Promise<void> {
  const before = rollout.bytes;
  rollout.append(line);
  // Flushes at intervals, to bound the memory used.
  if (Math.floor(before / maxWaitingBytes) !== Math.floor(rollout.bytes / maxWaitingBytes)) await saved(rollout, path);
}

async function saved(rollout: Rollout, path: string): Promise<void> {
  const outcome = await rollout.flush();
  if (outcome.status !== "not_saved") return;
  throw new FailureError({
    code: "not_saved",
    message: `${path} was only partly imported: ${outcome.reason}`,
    retryable: true,
  });
}

async function indexName(parts: ImporterParts, id: string, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  await parts.store.indexName(id, { name, timestamp: parts.now().toISOString() }, "rename");
}

interface ImportIds {
  readonly store: Pick<Store, "has" | "findInOwnDirectory" | "read">;
  isLive(conversationId: string): boolean;
}

type ChosenId =
  | { readonly status: "free"; readonly conversationId: string }
  /** The conversation is stored here and was not imported from this source. */
  | { readonly status: "here"; readonly conversationId: string }
  /** `sourceBytes` is the length of the file at that time; absent when that import was interrupted. */
  | { readonly status: "exists"; readonly conversationId: string; readonly sourceBytes: number | undefined };

interface ImportRequest {
  readonly file: SourceFile;
  readonly format: string;
  readonly force: boolean;
}

/** Chooses the id of an imported conversation: its own if that is an unused UUID, and the same on every import. */
async function chooseImportId(
  ids: ImportIds,
  { key, own, candidates }: SourceId,
  { file, format, force }: ImportRequest,
): Promise<ChosenId> {
  const { store } = ids;
  const keptAs = force ? undefined : await keptIn(store, file);
  if (keptAs !== undefined) return { status: "here", conversationId: keptAs };
  let unusedId: string | undefined;
  for (const id of candidates) {
    const conversationId = shownId(id);
    const isTaken = ids.isLive(conversationId) || (await store.has(conversationId));
    if (!isTaken) unusedId ??= conversationId;
    if (!isTaken || force) continue;
    const before = await importedBefore(store, conversationId, { format, id: key });
    if (before.status === "imported") return { status: "exists", conversationId, sourceBytes: before.sourceBytes };
    // A copy may be wanted of a conversation that another program stores, or that cannot be read.
    const isKept =
      before.status === "other" && id === own && (await store.findInOwnDirectory(conversationId)) !== undefined;
    if (isKept) return { status: "here", conversationId };
  }
  return { status: "free", conversationId: unusedId ?? shownId(uuidv7()) };
}

/** Returns the conversation whose rollout is this very file. */
async function keptIn(store: ImportIds["store"], { path }: SourceFile): Promise<string | undefined> {
  const id = idFromFileName(basename(path));
  const existing = id === undefined ? undefined : await store.findInOwnDirectory(id);
  if (existing?.path === undefined) return undefined;
  return (await realpath(existing.path).catch(() => undefined)) === path ? id : undefined;
}

type Before =
  | { readonly status: "imported"; readonly sourceBytes: number | undefined }
  | { readonly status: "other" }
  | { readonly status: "unreadable" };

/** Checks whether a conversation was imported from this source. */
async function importedBefore(
  store: ImportIds["store"],
  conversationId: string,
  origin: ImportOrigin,
): Promise<Before> {
  try {
    let isFirst = true;
    for await (const batch of store.read(conversationId)) {
      for (const line of batch) {
        if (isFirst && !isFrom("metadata" in line ? line.metadata : undefined, origin)) return { status: "other" };
        isFirst = false;
        if (line.type === "cody" && line.payload.type === "imported") {
          return { status: "imported", sourceBytes: line.payload.source_bytes };
        }
      }
    }
    return isFirst ? { status: "unreadable" } : { status: "imported", sourceBytes: undefined };
  } catch {
    // An unreadable conversation cannot be known to be the same.
    return { status: "unreadable" };
  }
}

function isFrom(metadata: unknown, { format, id }: ImportOrigin): boolean {
  const imported = fieldsOf(fieldsOf(metadata)["imported"]);
  return imported["format"] === format && imported["id"] === id;
}

/** Converts one source into rollout lines. */
class ImportedLines {
  readonly #source: Source;
  readonly #writer: TurnLines;
  /** Counts turns in the same way as an export does. */
  readonly #turns = new TurnCollector({ remembersItems: false });
  readonly #lines: AsyncGenerator<OwnLine>;
  name: string | undefined;

  constructor(parts: Pick<TurnLinesParts, "thoughts" | "knownProvider">, source: Source) {
    this.#source = source;
    const { losses, facts } = source;
    this.#writer = new TurnLines({
      losses,
      cwd: folderOf(source),
      thoughts: parts.thoughts,
      newId: uuidv7,
      knownProvider: (name) => parts.knownProvider(name),
    });
    const { provider } = facts;
    const isLost = provider !== undefined && provider !== "unknown" && parts.knownProvider(provider) === undefined;
    if (isLost) losses.count("provider");
    this.#lines = this.#convertedLines();
  }

  /** Returns the lines up to the first message; rejects when there is none. */
  async begin(): Promise<OwnLine[]> {
    const before: OwnLine[] = [];
    while (before.length < maxLinesBefore) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new ImportError(this.#source.file.path, nothingFound(this.#source));
      before.push(value);
      if (value.type === "response_item" || value.type === "compacted") break;
    }
    return before;
  }

  async rest(take: (line: OwnLine) => Promise<void>): Promise<void> {
    for await (const line of this.#lines) await take(line);
  }

  /** Closes the file, even if it was not read to its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lines.return(undefined);
  }

  /** Returns the source's own start time, else that of its first line; implausible times are ignored. */
  createdAt(before: readonly OwnLine[], now: Date): Date {
    const times = [this.#source.facts.createdAt, before[0]?.timestamp].map((time) => Date.parse(time ?? ""));
    return new Date(times.find((time) => time > earliestTime && time <= now.getTime()) ?? now.getTime());
  }

  result(
    status: ImportedConversation["status"],
    path: string,
    conversationId: string,
    rolloutPath: string | null,
  ): ImportedConversation {
    const { format, losses } = this.#source;
    const { items } = this.#writer;
    const turns = this.#turns.count;
    const name = this.name === undefined ? {} : { name: this.name };
    return { status, path, format, conversationId, rolloutPath, ...name, turns, items, losses: losses.report() };
  }

  async *#convertedLines(): AsyncGenerator<OwnLine> {
    for await (const record of this.#source.records) {
      if (record.type === "named") this.name = shortName(record.name) ?? this.name;
      else yield* this.#countTurns(this.#fitting(this.#writer.linesOf(record)));
    }
    yield* this.#countTurns(this.#writer.end());
  }

  #countTurns(lines: readonly OwnLine[]): readonly OwnLine[] {
    for (const line of lines) this.#turns.add(line);
    return lines;
  }

  /** Drops lines that would be too long to be read back. */
  #fitting(lines: readonly OwnLine[]): OwnLine[] {
    return lines.filter((line) => {
      const fits = Buffer.byteLength(encodeLine(line)) <= maxLineBytes;
      if (!fits) this.#source.losses.count("too_long");
      return fits;
    });
  }
}

/** Only an absolute path identifies the folder. */
function folderOf({ facts }: Source): string {
  return facts.cwd?.startsWith("/") === true ? facts.cwd : "/";
}

function nothingFound({ format, losses }: Source): string {
  const { damagedCount } = losses.report();
  const damaged = damagedCount === 0 ? "" : `; ${damagedCount} of its lines cannot be read`;
  return `no readable ${format} conversation in it${damaged}`;
}

export interface ImportOptions {
  /** The file's format; detected when absent. */
  readonly from?: ImportFormat;
  /** Import it even if it was imported before. */
  readonly force?: boolean;
  /** Read everything and write nothing. */
  readonly dryRun?: boolean;
}

/** A conversation that was imported, or with `dryRun` would be. */
export interface ImportedConversation {
  readonly status: "imported" | "would_import";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
  /** Null when no file was written. */
  readonly rolloutPath: string | null;
  readonly name?: string;
  readonly turns: number;
  readonly items: number;
  readonly losses: LossReport;
}

/** A conversation that was imported before. */
export interface KnownImport {
  readonly status: "exists";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
  /** False when the earlier import was interrupted. */
  readonly complete: boolean;
  /** Whether the file has grown since. */
  readonly grown: boolean;
}

/** A conversation that is already stored here: the file is its own rollout, or has its id. */
export interface ImportHere {
  readonly status: "here";
  readonly path: string;
  readonly format: ImportFormat;
  readonly conversationId: string;
}

/** A file in a directory that is not a readable conversation. */
export interface SkippedFile {
  readonly status: "skipped";
  readonly path: string;
  readonly reason: string;
}

/** A file in a directory that was not imported because another process has the conversation open. */
export interface FailedImport {
  readonly status: "failed";
  readonly path: string;
  readonly reason: string;
}

export type ImportResult = ImportedConversation | KnownImport | ImportHere;

export type ImportOutcome = ImportResult | SkippedFile | FailedImport;

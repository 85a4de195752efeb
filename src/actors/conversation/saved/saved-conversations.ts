import { lstat } from "node:fs/promises";
import { InvalidInputError, ConversationInUseError, EmptyRolloutError } from "../../../base/errors.js";
import { shownId } from "../../../base/text/conversation-id.js";
import { conversationName } from "../../../base/text/conversation-name.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import type { OwnLine, CodyPayload } from "../../../messages/rollout-line.js";
import { readFileTime, restoreFileTime } from "../../../rollouts/file/file-system.js";
import { legacyLines } from "../../../rollouts/file/legacy-lines.js";
import { exportFormats, isExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../../../rollouts/formats/export/export-lines.js";
import type { ConversationMetadata } from "../../../rollouts/list/list.js";
import { TurnEnds } from "../../../rollouts/turns.js";
import type { Conversation } from "../handle.js";
import type { ExportOptions, RenameOptions } from "../open/manager-options.js";
import { recordedConfig } from "../state/settings.js";
import { apply, emptyState, type ConversationState } from "../state/state.js";
import type { Store } from "../store/store.js";

const ownRecords: ReadonlySet<string> = new Set<CodyPayload["type"]>(["named", "pinned", "blob"]);

interface SavedParts {
  readonly store: Store;
  readonly live: ReadonlyMap<string, Conversation>;
  readonly now: () => Date;
  /** Tracks work that must finish before the store is closed. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

/** Operations on a conversation whether it is open or not; a saved one is not resumed for them. */
export class SavedConversations {
  readonly #parts: SavedParts;

  constructor(parts: SavedParts) {
    this.#parts = parts;
  }

  /** Returns the conversation if it is open. */
  live(conversationId: string): Conversation | undefined {
    return this.#parts.live.get(conversationId) ?? this.#parts.live.get(shownId(conversationId));
  }

  /** Returns the id of a conversation given by id, bare UUID, unique prefix or name. */
  async find(text: string): Promise<string> {
    if (typeof text !== "string") throw new InvalidInputError("expected the id or the name of a conversation");
    return this.live(text)?.id ?? (await this.#parts.store.find(text));
  }

  async rename(conversationId: string, text: string, { force = false }: RenameOptions): Promise<SaveOutcome> {
    const name = conversationName(text);
    const { live, store, now, track } = this.#parts;
    const open = live.get(conversationId);
    if (open !== undefined && open.ending === undefined) return await open.rename(name);
    await open?.ending;
    return await track(renameSaved(store, { conversationId, name, now: now(), force }));
  }

  async pin(
    conversationId: string,
    { pinned = true, force = false }: RenameOptions & { readonly pinned?: boolean },
  ): Promise<SaveOutcome> {
    const { live, store, now, track } = this.#parts;
    const open = live.get(conversationId);
    if (open !== undefined && open.ending === undefined) return await open.setPinned(pinned);
    await open?.ending;
    return await track(pinSaved(store, { conversationId, pinned, now: now(), force }));
  }

  async export(text: string, { format }: ExportOptions): Promise<ExportedConversation> {
    if (!isExportFormat(format)) throw new InvalidInputError(`format: expected one of ${exportFormats.join(", ")}`);
    const { live, store } = this.#parts;
    // No id has a file extension.
    const id = text.endsWith(".jsonl") ? await store.adopt(text) : await this.find(text);
    await live.get(id)?.flush();
    const { exportLines } = await import("../../../rollouts/formats/export/export-lines.js");
    return await exportLines({ conversationId: id, read: () => store.read(id) }, format);
  }
}

interface Pinning {
  readonly conversationId: string;
  readonly pinned: boolean;
  readonly now: Date;
  readonly force: boolean;
}

/** Pins or unpins a conversation that is not open. */
async function pinSaved(store: Store, { pinned, ...where }: Pinning): Promise<SaveOutcome> {
  const timestamp = where.now.toISOString();
  const payload = { type: "pinned", pinned } as const;
  const saved = await appendSaved(store, { ...where, line: { timestamp, type: "cody", payload } });
  if (saved.status !== "saved") return saved;
  return await store.indexPin(where.conversationId, { pinned, timestamp }, "pin");
}

interface SavedAppend {
  readonly conversationId: string;
  readonly line: OwnLine;
  /** Checks under the lock that the line may be appended; throws if not. */
  readonly verify?: () => Promise<void>;
  readonly now: Date;
  readonly force: boolean;
}

/**
 * Appends a line to a conversation that is not open, without resuming it: a turn that waits in it keeps waiting. Its
 * modification time is kept, because nothing was said in it. Does nothing if only Codex may append to the file.
 */
export async function appendSaved(store: Store, request: SavedAppend): Promise<SaveOutcome> {
  const { conversationId, line, verify, now, force } = request;
  if (await isCodexOnly(store, conversationId)) return { status: "saved" };
  const labels = { provider: "unknown", model: "unknown", cwd: "/" };
  const { outcome, rollout } = await store.open({ conversationId, mode: "append", ...labels, now, force });
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
  const before = rollout.path === null ? undefined : await readFileTime(rollout.path);
  try {
    await verify?.();
  } catch (error) {
    await rollout.close();
    throw error;
  }
  rollout.append(line);
  const saved = await rollout.flush();
  if (saved.status === "saved" && rollout.path !== null && before !== undefined) {
    await restoreFileTime(rollout.path, before, rollout.bytes);
  }
  return await rollout.close();
}

/** Reads only the first line, which determines it. */
async function isCodexOnly(store: Store, conversationId: string): Promise<boolean> {
  const state = emptyState();
  for await (const [first] of store.read(conversationId)) {
    if (first !== undefined) apply(state, first);
    break;
  }
  return isPaginated(state);
}

interface Renaming {
  readonly conversationId: string;
  readonly name: string;
  readonly now: Date;
  readonly force: boolean;
}

/** Returns the line that records a conversation's name. */
export function nameLine(name: string, now: Date): OwnLine {
  return { timestamp: now.toISOString(), type: "cody", payload: { type: "named", name } };
}

/** Renames a conversation that is not open. Codex itself stores names next to its rollouts. */
async function renameSaved(store: Store, { name, ...where }: Renaming): Promise<SaveOutcome> {
  const saved = await appendSaved(store, { ...where, line: nameLine(name, where.now) });
  if (saved.status !== "saved") return saved;
  return await store.indexName(where.conversationId, { name, timestamp: where.now.toISOString() }, "rename");
}

export interface ListOptions {
  readonly project?: string;
  readonly limit?: number;
}

/** Lists all saved and live conversations, newest first. */
export async function listed(
  store: Store,
  live: readonly Conversation[],
  now: Date,
  { project, limit }: ListOptions,
): Promise<ConversationMetadata[]> {
  const saved = await store.list(project === undefined ? { limit } : {});
  const known = new Set(saved.map(({ id }) => id));
  const others = live.filter(({ id }) => !known.has(id));
  // Only a full page leaves out conversations that are saved.
  const last = limit === undefined || saved.length < limit ? undefined : saved[limit - 1];
  const changedAt =
    last === undefined ? [] : await Promise.all(others.map(({ rolloutPath }) => changeTime(rolloutPath)));
  const unsaved = others.filter((_, index) => (changedAt[index] ?? Infinity) > (last?.updatedAt ?? 0));
  return [...saved, ...unsaved.map((conversation) => metadataOf(conversation, now))]
    .filter(({ cwd }) => project === undefined || cwd === project)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, limit);
}

/** Returns the time of a file's last change; undefined if there is no file. */
async function changeTime(path: string | null): Promise<number | undefined> {
  if (path === null) return undefined;
  return await lstat(path).then(
    ({ mtimeMs }) => Math.floor(mtimeMs),
    () => undefined,
  );
}

function metadataOf(live: Conversation, now: Date): ConversationMetadata {
  const { provider, model, cwd } = live.settings;
  const marks = {
    ...(live.name === undefined ? {} : { name: live.name }),
    ...(live.pinned ? ({ pinned: true } as const) : {}),
  };
  return { id: live.id, updatedAt: now.getTime(), provider, model, cwd, empty: live.turns === 0, ...marks };
}

/** Reads the lines that a fork inherits: those up to the end of a turn, or all. */
export async function readParent(store: Store, id: string, afterTurn: number | undefined): Promise<Parent> {
  const lines = await linesUpTo(store, id, afterTurn);
  const state = emptyState();
  for (const line of lines) apply(state, line);
  if (state.history.length === 0) throw new EmptyRolloutError(id);
  const inherited = lines.filter(isInherited);
  return {
    id,
    lines: isPaginated(state) ? inherited.flatMap(legacyLines) : inherited,
    recorded: recordedConfig(state),
  };
}

async function linesUpTo(store: Store, id: string, afterTurn: number | undefined): Promise<OwnLine[]> {
  const lines: OwnLine[] = [];
  const ends = new TurnEnds();
  for await (const batch of store.read(id)) {
    for (const line of batch) {
      lines.push(line);
      ends.add(line);
    }
  }
  if (afterTurn === undefined) return lines;
  const end = ends.endOf(afterTurn);
  if (end === undefined && ends.turns === 0) throw new EmptyRolloutError(id);
  if (end === undefined) throw new InvalidInputError(`${id} has no turn ${afterTurn}: its last turn is ${ends.turns}`);
  return lines.slice(0, end);
}

/** Excludes lines that describe only the parent: its meta line, name, pin and stored outputs. */
function isInherited(line: OwnLine): boolean {
  if (line.type === "cody") return !ownRecords.has(line.payload.type);
  return line.type !== "session_meta";
}

/**
 * Whether only Codex may append to it. A line without a number at the end makes such a file unreadable for Codex, and
 * Codex does not show a turn written in our format.
 */
export function isPaginated({ meta }: ConversationState): boolean {
  return meta?.history_mode === "paginated";
}

/** The data that a fork inherits from another conversation. */
interface Parent {
  readonly id: string;
  readonly lines: readonly OwnLine[];
  readonly recorded: ConversationConfig;
}

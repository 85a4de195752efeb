import { shownId } from "../../../base/text/conversation-id.js";
import { conversationName } from "../../../base/text/conversation-name.js";
import { InvalidInputError } from "../../../base/errors.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import { exportFormats, isExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../../../rollouts/formats/export/export-lines.js";
import type { Conversation } from "../handle.js";
import type { ExportOptions, RenameOptions } from "../open/manager-options.js";
import type { Store } from "../store/store.js";
import { appendSaved } from "./append-saved.js";
import { renameSaved } from "./rename-saved.js";

export interface SavedParts {
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

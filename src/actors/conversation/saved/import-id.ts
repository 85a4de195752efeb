import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { v7 as uuidv7 } from "uuid";
import { shownId } from "../../../messages/conversation-id.js";
import type { ImportOrigin } from "../../../messages/rollout-line.js";
import { fieldsOf } from "../../../rollouts/formats/import/fields.js";
import type { SourceFile } from "../../../rollouts/formats/import/source.js";
import type { SourceId } from "../../../rollouts/formats/import/source-id.js";
import { idOfName } from "../../../rollouts/layout.js";
import type { Store } from "../store/store.js";

export interface ImportIds {
  readonly store: Pick<Store, "has" | "kept" | "read">;
  isLive(conversationId: string): boolean;
}

export type ChosenId =
  | { readonly status: "free"; readonly conversationId: string }
  /** It is kept here, and did not come from such a source. */
  | { readonly status: "here"; readonly conversationId: string }
  /** `sourceBytes` is how long the file was then; absent when that import was interrupted. */
  | { readonly status: "exists"; readonly conversationId: string; readonly sourceBytes: number | undefined };

export interface ImportWish {
  readonly file: SourceFile;
  readonly format: string;
  readonly force: boolean;
}

/** The id an imported conversation gets: its own when that is a UUID nobody else has, and always the same. */
export async function chooseImportId(
  ids: ImportIds,
  { key, own, candidates }: SourceId,
  { file, format, force }: ImportWish,
): Promise<ChosenId> {
  const { store } = ids;
  const keptAs = force ? undefined : await keptIn(store, file);
  if (keptAs !== undefined) return { status: "here", conversationId: keptAs };
  let free: string | undefined;
  for (const id of candidates) {
    const conversationId = shownId(id);
    const isTaken = ids.isLive(conversationId) || (await store.has(conversationId));
    if (!isTaken) free ??= conversationId;
    if (!isTaken || force) continue;
    const before = await importedBefore(store, conversationId, { format, id: key });
    if (before.status === "imported") return { status: "exists", conversationId, sourceBytes: before.sourceBytes };
    // Of what only another program keeps a copy may be wanted; of what cannot be read, too.
    const isKept = before.status === "other" && id === own && (await store.kept(conversationId)) !== undefined;
    if (isKept) return { status: "here", conversationId };
  }
  return { status: "free", conversationId: free ?? shownId(uuidv7()) };
}

/** Which conversation has this very file here. */
async function keptIn(store: ImportIds["store"], { path }: SourceFile): Promise<string | undefined> {
  const id = idOfName(basename(path));
  const kept = id === undefined ? undefined : await store.kept(id);
  if (kept?.path === undefined) return undefined;
  return (await realpath(kept.path).catch(() => undefined)) === path ? id : undefined;
}

type Before =
  | { readonly status: "imported"; readonly sourceBytes: number | undefined }
  | { readonly status: "other" }
  | { readonly status: "unreadable" };

/** Whether a conversation was imported from there. */
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
    // What cannot be read is not known to be the same.
    return { status: "unreadable" };
  }
}

function isFrom(metadata: unknown, { format, id }: ImportOrigin): boolean {
  const imported = fieldsOf(fieldsOf(metadata)["imported"]);
  return imported["format"] === format && imported["id"] === id;
}

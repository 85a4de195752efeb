import { v7 as uuidv7 } from "uuid";
import { shownId } from "../../messages/conversation-id.js";
import type { ImportOrigin } from "../../messages/rollout-line.js";
import { fieldsOf } from "../../rollouts/import/fields.js";
import type { SourceId } from "../../rollouts/import/source-id.js";
import type { Store } from "./store.js";

export interface ImportIds {
  readonly store: Pick<Store, "has" | "read">;
  isLive(conversationId: string): boolean;
}

export type ChosenId =
  | { readonly status: "free"; readonly conversationId: string }
  /** `sourceBytes` is how long the file was then; absent when that import was interrupted. */
  | { readonly status: "exists"; readonly conversationId: string; readonly sourceBytes: number | undefined };

/** The id an imported conversation gets: its own when that is a UUID nobody else has, and always the same. */
export async function chooseImportId(
  ids: ImportIds,
  { key, candidates }: SourceId,
  { format, force }: { readonly format: string; readonly force: boolean },
): Promise<ChosenId> {
  const { store } = ids;
  let free: string | undefined;
  for (const conversationId of candidates.map(shownId)) {
    const isTaken = ids.isLive(conversationId) || (await store.has(conversationId));
    if (!isTaken) free ??= conversationId;
    const before = isTaken ? await importedBefore(store, conversationId, { format, id: key }) : undefined;
    if (before !== undefined && !force) return { status: "exists", conversationId, ...before };
  }
  return { status: "free", conversationId: free ?? shownId(uuidv7()) };
}

/** Whether a conversation was imported from there. */
async function importedBefore(
  store: ImportIds["store"],
  conversationId: string,
  origin: ImportOrigin,
): Promise<{ sourceBytes: number | undefined } | undefined> {
  try {
    let isFirst = true;
    for await (const batch of store.read(conversationId)) {
      for (const line of batch) {
        if (isFirst && !isFrom("metadata" in line ? line.metadata : undefined, origin)) return undefined;
        isFirst = false;
        if (line.type === "cody" && line.payload.type === "imported") return { sourceBytes: line.payload.source_bytes };
      }
    }
    return isFirst ? undefined : { sourceBytes: undefined };
  } catch {
    // What cannot be read is not known to be the same.
    return undefined;
  }
}

function isFrom(metadata: unknown, { format, id }: ImportOrigin): boolean {
  const imported = fieldsOf(fieldsOf(metadata)["imported"]);
  return imported["format"] === format && imported["id"] === id;
}

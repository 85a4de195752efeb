export interface PatchLine {
  readonly kind: "context" | "removed" | "added";
  readonly text: string;
}

/** A place in a file and its changes. */
export interface Chunk {
  /** Lines before the place, each after the previous one. */
  readonly contexts: readonly string[];
  readonly lines: readonly PatchLine[];
  /** Whether its lines are the last of the file. */
  readonly atEnd: boolean;
}

export interface FileUpdate {
  readonly type: "update";
  readonly path: string;
  readonly movePath: string | undefined;
  readonly chunks: readonly Chunk[];
}

/** The part of a patch about one file. */
export type FilePatch =
  | { readonly type: "add"; readonly path: string; readonly content: string }
  | { readonly type: "delete"; readonly path: string }
  | FileUpdate;

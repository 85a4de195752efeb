import { isUtf8 } from "node:buffer";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SecretKind, TextRedactor } from "../../base/text/redaction.js";
import { ChangeFolder, isRecordFile, type NumberedRecord } from "./change-folder.js";
import { ContentStore, namesIn } from "./content-store.js";
import { type SnapshotPlaces, storeOf } from "./snapshot.js";

/** A stored content that contains secrets; it quotes none of them. */
export interface SnapshotHit {
  /** The content's hash, or the name of a file that is not a content. */
  readonly name: string;
  readonly found: Readonly<Record<SecretKind, number>>;
  /** The files that had this content. */
  readonly paths: readonly string[];
  /** The turns that cannot be undone without this content. */
  readonly turnIds: readonly string[];
}

/** Finds secrets in the stored contents of files that turns changed. */
export async function lookAtSnapshots(folder: string, redactor: TextRedactor): Promise<SnapshotHit[]> {
  const records = await new ChangeFolder(folder).records();
  const store = new ContentStore(folder);
  const contents = [...store.names].toSorted().map((name) => [name, store.raw(name)] as const);
  const others = otherFiles(store).map((name) => [name, readFileSync(join(folder, name))] as const);
  return [...contents, ...others].flatMap(([name, bytes]) => {
    const found = secretsIn(bytes, redactor);
    return found === undefined ? [] : [{ name, found, ...usesOf(name, records) }];
  });
}

/** Finds such contents and removes them, also from the workspace cache. */
export async function scrubSnapshots(places: SnapshotPlaces, redactor: TextRedactor): Promise<SnapshotHit[]> {
  const hits = await lookAtSnapshots(places.folder, redactor);
  if (hits.length === 0) return hits;
  const dropped = new Set(hits.map(({ name }) => name));
  const store = new ContentStore(places.folder);
  for (const name of otherFiles(store)) if (dropped.has(name)) rmSync(join(places.folder, name), { force: true });
  store.drop(dropped);
  const roots = new Set((await new ChangeFolder(places.folder).records()).map(({ root }) => root));
  for (const root of roots) storeOf(places.workspaces, root).drop(dropped);
  return hits;
}

/** Returns the files left by a crash and those that cannot be parsed. */
function otherFiles(store: ContentStore): string[] {
  return namesIn(store.folder).filter((name) => !isRecordFile(name) && !store.files.has(name));
}

function secretsIn(bytes: Buffer, redactor: TextRedactor): SnapshotHit["found"] | undefined {
  const text = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  const found = { known: 0, named: 0, shaped: 0 };
  return redactor.redact(text, (kind) => (found[kind] += 1)) === text ? undefined : found;
}

function usesOf(sha256: string, records: readonly NumberedRecord[]): Pick<SnapshotHit, "paths" | "turnIds"> {
  const [paths, turnIds] = [new Set<string>(), new Set<string>()];
  for (const { kind, turn_id, files } of records) {
    for (const { path, before, after } of files) {
      if (before?.sha256 === sha256 || after?.sha256 === sha256) paths.add(path);
      if (before?.sha256 === sha256 && kind === "turn") turnIds.add(turn_id);
    }
  }
  return { paths: [...paths], turnIds: [...turnIds] };
}

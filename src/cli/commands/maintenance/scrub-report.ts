import type { SnapshotHit } from "../../../changes/workspace/scrub-snapshots.js";
import { counted } from "../../../base/text/counted.js";
import type { SecretKind } from "../../../messages/redaction.js";
import { visible } from "../../../base/text/visible.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import type { FileScrub } from "../../../rollouts/scrub/scrub-file.js";

/** More lines than these are only counted for a person. */
const maxShown = 20;
const shownHash = 12;
const words: Readonly<Record<SecretKind, string>> = { known: "known", named: "by name", shaped: "by shape" };

const keeping = "with a known secret that cannot be taken out, because it is signed or part of an id";

export interface Scrubbed {
  readonly files: readonly FileScrub[];
  /** What was found in what is kept of the files that turns changed. */
  readonly snapshots: readonly SnapshotHit[];
  /** The numbers of turns by their ids. */
  readonly turns: ReadonlyMap<string, number>;
}

/** Where secrets were found, by line and by kind, and never what they are. */
export function scrubText({ id }: RolloutName, scrubbed: Scrubbed, isWritten: boolean): string {
  const { files, snapshots } = scrubbed;
  const [rollout, ...others] = files;
  const lines = files.reduce((sum, { hitLines }) => sum + hitLines, 0);
  const kept = files.flatMap(({ kept: numbers }) => numbers);
  const notes =
    kept.length === 0 ? [] : [`  ${counted(kept.length, "line")} ${keeping}: ${kept.slice(0, maxShown).join(", ")}`];
  if (lines + snapshots.length === 0) return [`${id}: no secrets were found`, ...notes].join("\n");
  const shown = rollout?.hits.slice(0, maxShown) ?? [];
  const hidden = (rollout?.hitLines ?? 0) - shown.length;
  const facts = [
    ...shown.map(({ line, found }) => `  line ${line}: ${kinds(found)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...others.filter(({ hitLines }) => hitLines > 0).map(fileText),
    ...snapshots.slice(0, maxShown).map(snapshotText),
    ...(snapshots.length > maxShown ? [`  and ${counted(snapshots.length - maxShown, "more kept content")}`] : []),
    ...undoLines(scrubbed, isWritten),
    ...notes,
  ];
  const places = [
    ...(lines > 0 ? [counted(lines, "line")] : []),
    ...(snapshots.length > 0 ? [counted(snapshots.length, "kept content")] : []),
  ];
  const head = `${kinds(total([...files, ...snapshots]))} in ${places.join(" and ")}`;
  const hint = `Nothing was changed. To take them out: cody scrub ${id} --write`;
  return isWritten ? [`✓ Scrubbed ${id}: ${head}`, ...facts].join("\n") : [`${id}: ${head}`, ...facts, hint].join("\n");
}

function fileText({ file, found, hits, hitLines }: FileScrub): string {
  if (hits.length === 0) return `  a whole output, ${file.slice(0, shownHash)}: ${kinds(found)}; it goes as a whole`;
  return `  ${file}: ${kinds(found)} in ${counted(hitLines, "line")}`;
}

/** The content of a file goes as a whole: it is known by its hash. */
function snapshotText({ name, found, paths }: SnapshotHit): string {
  const [path = name.slice(0, shownHash)] = paths;
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return `  a kept content of ${visible(path)}${more}: ${kinds(found)}; it goes as a whole`;
}

function undoLines({ snapshots, turns }: Scrubbed, isWritten: boolean): string[] {
  const ids = new Set(snapshots.flatMap(({ turnIds }) => turnIds));
  const numbers = [...ids].flatMap((id) => turns.get(id) ?? []).toSorted((a, b) => a - b);
  if (ids.size === 0) return [];
  const which = numbers.length === ids.size ? `turn ${numbers.join(", ")}` : counted(ids.size, "turn");
  return [`  ${isWritten ? "Can" : "Then it can"} no longer be taken back by undo: ${which}`];
}

function kinds(found: FileScrub["found"]): string {
  const said = (["known", "named", "shaped"] as const).filter((kind) => found[kind] > 0);
  return said.map((kind) => `${found[kind]} ${words[kind]}`).join(", ");
}

function total(files: readonly Pick<FileScrub, "found">[]): FileScrub["found"] {
  const sum = (kind: SecretKind): number => files.reduce((all, { found }) => all + found[kind], 0);
  return { known: sum("known"), named: sum("named"), shaped: sum("shaped") };
}

export function scrubJson({ id, path }: RolloutName, { files, snapshots }: Scrubbed, isWritten: boolean): object {
  const hasFound = snapshots.length > 0 || files.some(({ hitLines }) => hitLines > 0);
  return { id, path, found: total([...files, ...snapshots]), files, snapshots, scrubbed: isWritten && hasFound };
}

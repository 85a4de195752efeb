import type { SecretKind } from "../messages/redaction.js";
import type { RolloutName } from "../rollouts/layout-files.js";
import type { FileScrub } from "../rollouts/scrub/scrub-file.js";

/** More lines than these are only counted for a person. */
const maxShown = 20;
const shownHash = 12;
const words: Readonly<Record<SecretKind, string>> = { known: "known", named: "by name", shaped: "by shape" };

const keeping = "with a known secret that cannot be taken out, because it is signed or part of an id";

/** Where secrets were found, by line and by kind, and never what they are. */
export function scrubText({ id }: RolloutName, files: readonly FileScrub[], isWritten: boolean): string {
  const [rollout, ...others] = files;
  const lines = files.reduce((sum, { hitLines }) => sum + hitLines, 0);
  const kept = files.flatMap(({ kept: numbers }) => numbers);
  const notes =
    kept.length === 0 ? [] : [`  ${count(kept.length, "line")} ${keeping}: ${kept.slice(0, maxShown).join(", ")}`];
  if (lines === 0) return [`${id}: no secrets were found`, ...notes].join("\n");
  const shown = rollout?.hits.slice(0, maxShown) ?? [];
  const hidden = (rollout?.hitLines ?? 0) - shown.length;
  const facts = [
    ...shown.map(({ line, found }) => `  line ${line}: ${kinds(found)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...others.filter(({ hitLines }) => hitLines > 0).map(fileText),
    ...notes,
  ];
  const head = `${kinds(total(files))} in ${count(lines, "line")}`;
  const hint = `Nothing was changed. To take them out: cody scrub ${id} --write`;
  return isWritten ? [`✓ Scrubbed ${id}: ${head}`, ...facts].join("\n") : [`${id}: ${head}`, ...facts, hint].join("\n");
}

function fileText({ file, found, hits, hitLines }: FileScrub): string {
  if (hits.length === 0) return `  a whole output, ${file.slice(0, shownHash)}: ${kinds(found)}; it goes as a whole`;
  return `  ${file}: ${kinds(found)} in ${count(hitLines, "line")}`;
}

function kinds(found: FileScrub["found"]): string {
  const said = (["known", "named", "shaped"] as const).filter((kind) => found[kind] > 0);
  return said.map((kind) => `${found[kind]} ${words[kind]}`).join(", ");
}

function total(files: readonly FileScrub[]): FileScrub["found"] {
  const sum = (kind: SecretKind): number => files.reduce((all, { found }) => all + found[kind], 0);
  return { known: sum("known"), named: sum("named"), shaped: sum("shaped") };
}

export function scrubJson({ id, path }: RolloutName, files: readonly FileScrub[], isWritten: boolean): object {
  return { id, path, found: total(files), files, scrubbed: isWritten && files.some(({ hitLines }) => hitLines > 0) };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

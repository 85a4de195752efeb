import { existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { deleteCachedCopies } from "../../../actors/retention/trash-bin.js";
import { saveFailureReason } from "../../../actors/rollout-writer/save-failure.js";
import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { lookAtSnapshots, scrubSnapshots, type SnapshotHit } from "../../../changes/workspace/scrub-snapshots.js";
import type { SnapshotPlaces } from "../../../changes/workspace/snapshot.js";
import { withFileLock } from "../../../config/file-lock.js";
import { homePaths, namedDirectories, namesFile } from "../../../config/paths.js";
import { redactionRules, minSecretChars } from "../../../config/secrets/redact.js";
import { createTextRedactor, isMaskable } from "../../../config/secrets/text-redactor.js";
import { SensitivePattern } from "../../../messages/settings/config.js";
import { ConversationInUseError } from "../../../base/errors.js";
import { mask, type RedactionRules, type SecretKind } from "../../../base/text/redaction.js";
import { headCachePath } from "../../../rollouts/list/head-cache.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { nodeRepairFiles } from "../../../rollouts/file/replacement.js";
import {
  type ConversationScrub,
  findSecrets,
  findSecretsInFile,
  scrubConversation,
  scrubFile,
  type FileScrub,
} from "../../../rollouts/repair/scrub.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type ContextOf, printResult } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { findSavedRollout } from "../../conversations/choose-conversation.js";
import { loadSettings } from "../../load-settings.js";
import { watchSignals } from "../../terminal/interruption.js";
import { readLines } from "../../terminal/read-input.js";
import { changePlaces, turnNumbers } from "../changes/saved-changes.js";
import { withRolloutLocked } from "./locked-rollout.js";

/** In the text output, further lines are only counted. */
const maxShown = 20;

const shownHash = 12;

const kindNames: Readonly<Record<SecretKind, string>> = { known: "known", named: "by name", shaped: "by shape" };

const notRemovableText = "with a known secret that cannot be removed, because it is in a signed block or part of an id";

interface RequestedValues {
  readonly secrets: readonly string[];
  readonly exact: readonly string[];
  /** The number of values that cannot be searched for. */
  readonly refused: number;
}

const noValues: RequestedValues = { secrets: [], exact: [], refused: 0 };
const noTurns: ReadonlyMap<string, number> = new Map();
/** Shorter values occur inside too many other words. */
const minValueChars = 3;

/** Reports secrets in a saved conversation; with --write also removes them. */
export async function scrubCommand(context: ContextOf<"scrub">): Promise<number> {
  const { flags } = context;
  if (flags.write && flags.dryRun) throw usageError("--write cannot be combined with --dry-run");
  const names = namesIn(flags.pattern);
  const rollout = await findSavedRollout(context);
  context.about(rollout.id);
  const requested = flags.stdin ? await readRequestedValues(context) : noValues;
  const scrub = await scrubOf(context, rollout, { ...requested, names });
  const where = changePlaces(await loadPlaces(context), rollout, context.terminal.env);
  const found = flags.write
    ? await scrubFiles(context, rollout, scrub, where)
    : {
        files: [
          ...(await findSecrets(scrub)),
          ...(await inPromptHistory(context, (path) => findSecretsInFile(path, scrub))),
        ],
        snapshots: await lookAtSnapshots(where.folder, scrub.redactor),
      };
  // A rollout may be too damaged to number its turns.
  const turns = found.snapshots.length === 0 ? noTurns : await turnNumbers(rollout).catch(() => noTurns);
  const result = [rollout, { ...found, turns }, flags.write] as const;
  const json = { ...scrubJson(...result), notLookedFor: requested.refused };
  await printResult(context, { text: scrubText(...result), json });
  if (requested.refused === 0) return 0;
  const [lines, verb] = requested.refused === 1 ? ["1 line", "it is"] : [`${requested.refused} lines`, "each is"];
  await context.tell(
    `Not searched for: ${lines} of stdin, because ${verb} shorter than ${minValueChars} characters or part of ${mask}`,
  );
  return exitCodes.failed;
}

async function scrubOf(
  context: ContextOf<"scrub">,
  { id, path }: RolloutName,
  requested: RequestedValues & Pick<RedactionRules, "names">,
): Promise<ConversationScrub> {
  const { flags, terminal } = context;
  const places = await loadPlaces(context);
  const { values } = await loadSettings(context);
  const rules = redactionRules(values, terminal.env);
  const redactor = createTextRedactor({
    secrets: [...rules.secrets, ...requested.secrets],
    exact: requested.exact,
    names: [...rules.names, ...requested.names],
    shapes: !flags.noShapes,
  });
  const found = namedDirectories(places).find(({ directory }) => path.startsWith(directory + sep));
  const names = found?.names ?? namesFile(places.directory, places.codexHome);
  return { conversationId: id, path, redactor, names, uid: process.getuid?.() ?? 0 };
}

function namesIn(text: string | undefined): string[] {
  const names = text === undefined ? [] : text.split(",").map((name) => name.trim());
  for (const name of names) {
    const { error } = SensitivePattern.safeParse(name);
    if (error !== undefined) throw usageError(`--pattern '${name}': ${error.issues[0]?.message}`);
  }
  return names;
}

/**
 * Reads the values to remove from stdin. Unusable values are counted, because skipping them silently would look as if
 * they were not found.
 */
async function readRequestedValues(context: ContextOf<"scrub">): Promise<RequestedValues> {
  using interruption = watchSignals(context.terminal);
  const lines: string[] = [];
  for await (const line of readLines(context.terminal.stdin, interruption.signal)) {
    if (line.trim() !== "") lines.push(line);
  }
  const usable = lines.filter((line) => line.trim().length >= minValueChars && isMaskable(line));
  return {
    secrets: usable.filter((line) => line.length >= minSecretChars),
    exact: usable.filter((line) => line.length < minSecretChars),
    refused: lines.length - usable.length,
  };
}

/** Caches and the search index may contain the removed text. */
async function removeCachedText(context: ContextOf<"scrub">, { id, path }: RolloutName): Promise<void> {
  await rm(headCachePath(dirname(path)), { force: true });
  if (await deleteCachedCopies(context.home, [id])) return;
  await context.tell("The search index is in use and still contains the old text. When it is free: cody index rebuild");
}

async function scrubFiles(
  context: ContextOf<"scrub">,
  rollout: RolloutName,
  scrub: ConversationScrub,
  where: SnapshotPlaces,
): Promise<Pick<Scrubbed, "files" | "snapshots">> {
  const { id, path } = rollout;
  const { nlink } = await stat(path);
  try {
    const [files, snapshots] = await withRolloutLocked(
      context,
      rollout,
      async () =>
        [await scrubConversation(nodeRepairFiles, scrub), await scrubSnapshots(where, scrub.redactor)] as const,
    );
    if (files.some(({ hits }) => hits.length > 0)) {
      await removeCachedText(context, rollout);
      if (nlink > 1) await context.tell(`${path} has another hard link, which still contains the old text.`);
    }
    // Another cody appends to it under the same lock.
    const texts = await inPromptHistory(context, (file) =>
      withFileLock(`${file}.lock`, () => scrubFile(nodeRepairFiles, file, `${file}.scrub.tmp`, scrub)),
    );
    return { files: [...files, ...texts], snapshots };
  } catch (error) {
    if (error instanceof ConversationInUseError) {
      throw new CommandError(`Conversation '${id}' is in use by ${error.owner}`, exitCodes.failed);
    }
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new CommandError(`Cannot scrub conversation '${id}': ${saveFailureReason(error)}`, exitCodes.failed);
  }
}

/** The texts that were sent in all conversations are in one file, so all of its lines are searched. */
async function inPromptHistory(
  { home }: ContextOf<"scrub">,
  search: (path: string) => Promise<FileScrub>,
): Promise<FileScrub[]> {
  const { promptHistory } = homePaths(home);
  return existsSync(promptHistory) ? [await search(promptHistory)] : [];
}

interface Scrubbed {
  readonly files: readonly FileScrub[];
  /** Secrets in the stored contents of files that turns changed. */
  readonly snapshots: readonly SnapshotHit[];
  /** Turn numbers by turn id. */
  readonly turns: ReadonlyMap<string, number>;
}

/** Reports the secrets by line and kind, never their values. */
function scrubText({ id }: RolloutName, scrubbed: Scrubbed, isWritten: boolean): string {
  const { files, snapshots } = scrubbed;
  const [rollout, ...others] = files;
  const lines = files.reduce((sum, { hitLines }) => sum + hitLines, 0);
  const keptLines = files.flatMap(({ kept: numbers }) => numbers);
  const notes =
    keptLines.length === 0
      ? []
      : [`  ${counted(keptLines.length, "line")} ${notRemovableText}: ${keptLines.slice(0, maxShown).join(", ")}`];
  if (lines + snapshots.length === 0) return [`${id}: no secrets found`, ...notes].join("\n");
  const listed = rollout?.hits.slice(0, maxShown) ?? [];
  const hidden = (rollout?.hitLines ?? 0) - listed.length;
  const facts = [
    ...listed.map(({ line, found }) => `  line ${line}: ${kinds(found)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...others.filter(({ hitLines }) => hitLines > 0).map(fileText),
    ...snapshots.slice(0, maxShown).map(snapshotText),
    ...(snapshots.length > maxShown ? [`  and ${counted(snapshots.length - maxShown, "more stored file")}`] : []),
    ...undoLines(scrubbed, isWritten),
    ...notes,
  ];
  const places = [
    ...(lines > 0 ? [counted(lines, "line")] : []),
    ...(snapshots.length > 0 ? [counted(snapshots.length, "stored file")] : []),
  ];
  const head = `${kinds(total([...files, ...snapshots]))} in ${places.join(" and ")}`;
  const hint = `Nothing was changed. To remove them: cody scrub ${id} --write`;
  return isWritten ? [`✓ Scrubbed ${id}: ${head}`, ...facts].join("\n") : [`${id}: ${head}`, ...facts, hint].join("\n");
}

function fileText({ file, found, hits, hitLines }: FileScrub): string {
  if (hits.length === 0)
    return `  full tool output ${file.slice(0, shownHash)}: ${kinds(found)}; the whole file is removed`;
  return `  ${file}: ${kinds(found)} in ${counted(hitLines, "line")}`;
}

/** Stored content is removed as a whole, because it is identified by its hash. */
function snapshotText({ name, found, paths }: SnapshotHit): string {
  const [path = name.slice(0, shownHash)] = paths;
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return `  stored version of ${visible(path)}${more}: ${kinds(found)}; the whole version is removed`;
}

function undoLines({ snapshots, turns }: Scrubbed, isWritten: boolean): string[] {
  const ids = new Set(snapshots.flatMap(({ turnIds }) => turnIds));
  const numbers = [...ids].flatMap((id) => turns.get(id) ?? []).toSorted((a, b) => a - b);
  if (ids.size === 0) return [];
  const which = numbers.length === ids.size ? `turn ${numbers.join(", ")}` : counted(ids.size, "turn");
  return [`  ${isWritten ? "Can" : "Then it can"} no longer be undone: ${which}`];
}

function kinds(found: FileScrub["found"]): string {
  const present = (["known", "named", "shaped"] as const).filter((kind) => found[kind] > 0);
  return present.map((kind) => `${found[kind]} ${kindNames[kind]}`).join(", ");
}

function total(files: readonly Pick<FileScrub, "found">[]): FileScrub["found"] {
  const sum = (kind: SecretKind): number => files.reduce((all, { found }) => all + found[kind], 0);
  return { known: sum("known"), named: sum("named"), shaped: sum("shaped") };
}

function scrubJson({ id, path }: RolloutName, { files, snapshots }: Scrubbed, isWritten: boolean): object {
  const hasFound = snapshots.length > 0 || files.some(({ hitLines }) => hitLines > 0);
  return { id, path, found: total([...files, ...snapshots]), files, snapshots, scrubbed: isWritten && hasFound };
}

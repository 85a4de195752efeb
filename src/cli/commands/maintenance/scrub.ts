import { rm, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { forgetCopies } from "../../../actors/retention/forget-copies.js";
import { reasonOf } from "../../../actors/rollout-writer/reason.js";
import { lookAtSnapshots, scrubSnapshots } from "../../../changes/workspace/scrub-snapshots.js";
import type { SnapshotPlaces } from "../../../changes/workspace/snapshot.js";
import { namedDirectories, namesFile } from "../../../config/places.js";
import { redactionRules } from "../../../config/secrets/rules.js";
import { createTextRedactor, isNoMask } from "../../../config/secrets/text-redactor.js";
import { minSecretChars } from "../../../config/secrets/secret-forms.js";
import { SensitivePattern } from "../../../messages/config.js";
import { ConversationInUseError } from "../../../messages/errors.js";
import { mask, type RedactionRules } from "../../../messages/redaction.js";
import { headCachePath } from "../../../rollouts/list/head-cache.js";
import type { RolloutName } from "../../../rollouts/list/layout-files.js";
import { nodeRepairFiles } from "../../../rollouts/repair/repair-files.js";
import {
  type ConversationScrub,
  lookAtConversation,
  scrubConversation,
} from "../../../rollouts/scrub/scrub-conversation.js";
import { placesOfChanges, turnNumbers } from "../changes/saved-changes.js";
import { CommandError, exitCodes, usageError } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { placesOf } from "../../conversations/conversation-directory.js";
import { watchSignals } from "../../terminal/interruption.js";
import { loadSettings } from "../../load-settings.js";
import { withRolloutLocked } from "./locked-rollout.js";
import { readLines } from "../../terminal/read-input.js";
import { savedRollout } from "../../conversations/saved-rollout.js";
import { scrubJson, type Scrubbed, scrubText } from "./scrub-report.js";

interface AskedValues {
  readonly secrets: readonly string[];
  readonly exact: readonly string[];
  /** How many of them cannot be looked for. */
  readonly refused: number;
}

const nothingAsked: AskedValues = { secrets: [], exact: [], refused: 0 };
const noTurns: ReadonlyMap<string, number> = new Map();
/** Shorter ones stand in every other word. */
const minAskedChars = 3;

/** Says where secrets stand in a conversation that was saved with them; with --write it also takes them out. */
export async function scrubCommand(context: CommandContext): Promise<number> {
  const { flags } = context;
  if (flags.write && flags.dryRun) throw usageError("--write and --dry-run: say one of them");
  const names = namesIn(flags.pattern);
  const rollout = await savedRollout(context);
  context.about(rollout.id);
  const asked = flags.stdin ? await askedOf(context) : nothingAsked;
  const scrub = await scrubOf(context, rollout, { ...asked, names });
  const where = placesOfChanges(await placesOf(context), rollout, context.terminal.env);
  const found = flags.write
    ? await scrubbed(context, rollout, scrub, where)
    : { files: await lookAtConversation(scrub), snapshots: await lookAtSnapshots(where.folder, scrub.redactor) };
  // A rollout may be too damaged to say how its turns are numbered.
  const turns = found.snapshots.length === 0 ? noTurns : await turnNumbers(rollout).catch(() => noTurns);
  const result = [rollout, { ...found, turns }, flags.write] as const;
  const json = { ...scrubJson(...result), notLookedFor: asked.refused };
  await printResult(context, { text: scrubText(...result), json });
  if (asked.refused === 0) return 0;
  const [lines, them] = asked.refused === 1 ? ["1 line", "it is"] : [`${asked.refused} lines`, "each is"];
  await context.tell(
    `Not looked for: ${lines} of stdin, because ${them} shorter than ${minAskedChars} characters or part of ${mask}`,
  );
  return exitCodes.failed;
}

async function scrubOf(
  context: CommandContext,
  { id, path }: RolloutName,
  asked: AskedValues & Pick<RedactionRules, "names">,
): Promise<ConversationScrub> {
  const { flags, terminal } = context;
  const places = await placesOf(context);
  const { values } = await loadSettings(context);
  const rules = redactionRules(values, terminal.env);
  const redactor = createTextRedactor({
    secrets: [...rules.secrets, ...asked.secrets],
    exact: asked.exact,
    names: [...rules.names, ...asked.names],
    shapes: flags.shapes,
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

/** What somebody asked for by its value. Nothing is passed over in silence: it would seem not to be there. */
async function askedOf(context: CommandContext): Promise<AskedValues> {
  using interruption = watchSignals(context.terminal);
  const lines: string[] = [];
  for await (const line of readLines(context.terminal.stdin, interruption.signal)) {
    if (line.trim() !== "") lines.push(line);
  }
  const usable = lines.filter((line) => line.trim().length >= minAskedChars && isNoMask(line));
  return {
    secrets: usable.filter((line) => line.length >= minSecretChars),
    exact: usable.filter((line) => line.length < minSecretChars),
    refused: lines.length - usable.length,
  };
}

/** What was read of it may stand in what is kept to be quick. */
async function forgetWhatWasSaid(context: CommandContext, { id, path }: RolloutName): Promise<void> {
  await rm(headCachePath(dirname(path)), { force: true });
  if (await forgetCopies(context.home, [id])) return;
  await context.tell("The index of what was said still has it, because it is in use. Then: cody index rebuild");
}

async function scrubbed(
  context: CommandContext,
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
      await forgetWhatWasSaid(context, rollout);
      if (nlink > 1)
        await context.tell(`${path} has another hard link, under which the old text is still on the disk.`);
    }
    return { files, snapshots };
  } catch (error) {
    if (error instanceof ConversationInUseError) {
      throw new CommandError(`Conversation '${id}' is in use by ${error.owner}`, exitCodes.failed);
    }
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new CommandError(`Conversation '${id}' could not be scrubbed: ${reasonOf(error)}`, exitCodes.failed);
  }
}

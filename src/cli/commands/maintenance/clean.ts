import { findProjectRoot } from "../../../config/project/project.js";
import { ageOf } from "../../format/age.js";
import {
  candidatesOf,
  cleaned,
  cleanedText,
  type CleanWish,
  dryRunText,
  sizesOf,
  withoutBusy,
} from "./clean-conversations.js";
import { emptyTrash } from "./empty-trash.js";
import { exitCodes, usageError } from "../../command-error.js";
import { type CommandContext, printResult } from "../../context.js";
import { placesOf } from "../../conversations/conversation-directory.js";

const defaultAge = "7d";

/** Moves old conversations into the trash, from which `undelete` brings them back; so nothing is asked. */
export async function cleanCommand(context: CommandContext): Promise<number> {
  const { flags } = context;
  if (flags.trash && (flags.olderThan !== undefined || flags.project)) {
    throw usageError("--trash goes with --all, --yes and --dry-run only");
  }
  if (flags.yes && !flags.trash) throw usageError("--yes is for --trash: what is cleaned up can be brought back");
  if (flags.all && flags.olderThan !== undefined) throw usageError("--all and --older-than do not go together");
  const wish = flags.trash ? undefined : await wishOf(context);
  const places = await placesOf(context);
  if (wish === undefined) return await emptyTrash(context, places);
  const candidates = await candidatesOf(context, places, wish);
  const kept = candidates.pinned.map(({ id }) => id);
  if (flags.dryRun) {
    const free = await withoutBusy(context, places, candidates);
    const wouldDelete = await sizesOf(free);
    const text = dryRunText(wouldDelete, free, wish).join("\n");
    const inUse = free.busy.map(({ id }) => id);
    await printResult(context, { text, json: { dryRun: true, wouldDelete, kept, inUse } });
    return 0;
  }
  const result = await cleaned(context, places, candidates.going);
  const text = cleanedText(result, candidates, wish).join("\n");
  await printResult(context, { text, json: { dryRun: false, ...result, kept } });
  return result.failures.length > 0 ? exitCodes.failed : 0;
}

async function wishOf({ flags, terminal }: CommandContext): Promise<CleanWish> {
  const olderThanMs = ageOf("--older-than", flags.olderThan ?? defaultAge);
  const project = flags.all || flags.project ? { projectRoot: await findProjectRoot(terminal.cwd) } : {};
  return flags.all ? project : { ...project, olderThanMs };
}

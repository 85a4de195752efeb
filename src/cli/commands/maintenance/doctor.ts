import { homedir } from "node:os";
import { ownerWithoutLocks } from "../../../actors/rollout-writer/rollout-locks.js";
import { InvalidInputError } from "../../../base/errors.js";
import { quotedCommand } from "../../../base/text/quoted-command.js";
import {
  homePaths,
  codexSessions,
  conversationPlaces,
  type ConversationPlaces,
  resolveHomes,
} from "../../../config/paths.js";
import { runtimePlace } from "../../../rollouts/file/runtime-directory.js";
import { findById } from "../../../rollouts/list/find-conversation.js";
import { storeEntries } from "../../../rollouts/repair/store-entries.js";
import type { SandboxStatus } from "../../../tools/exec/command-sandbox.js";
import type { FlagValues } from "../../arguments/flag-table.js";
import { exitCodes } from "../../command-error.js";
import type { CommandContext, ContextOf } from "../../context.js";
import { loadPlaces } from "../../conversations/conversation-places.js";
import { watchSignals } from "../../terminal/interruption.js";
import { checkHooks } from "./doctor/check-hooks.js";
import {
  checkDirectory,
  checkEntry,
  type CheckContext,
  checkHome,
  checkSockets,
  checkWorkspace,
} from "./doctor/checks.js";
import { type Finding, DoctorReport } from "./doctor/report.js";

/** Checks everything cody stores, and reports problems with their fixes. Changes nothing. */
export async function doctorCommand(context: ContextOf<"doctor">): Promise<number> {
  using interruption = watchSignals(context.terminal);
  const { signal } = interruption;
  const places = await knownPlaces(context);
  const report = new DoctorReport(context, (finding) => repairCommandFor(finding, places, context.flags));
  try {
    for await (const finding of examine(context, places, report, signal)) await report.add(finding);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await report.end(signal.aborted ? undefined : await sandboxStatus(context));
  return interruption.exitCode ?? (report.problems > 0 ? exitCodes.failed : 0);
}

async function* examine(
  context: CommandContext,
  { directory, codexHome }: ConversationPlaces,
  report: DoctorReport,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const { home, terminal } = context;
  const [uid, now] = [process.getuid?.() ?? 0, Date.now()];
  const isCodex = codexHome !== undefined && directory === codexSessions(codexHome);
  const isOwn = directory === homePaths(home).conversations;
  const checks: CheckContext = {
    us: await ownerWithoutLocks(),
    uid,
    now,
    files: isCodex ? "chosen" : "ours",
    folders: isOwn ? "ours" : "chosen",
    signal,
  };
  yield* await checkHome(home, checks);
  yield* await checkHooks(context);
  yield* await checkDirectory(directory, uid, checks.folders);
  for await (const entry of storeEntries(directory)) {
    signal.throwIfAborted();
    yield* await checkEntry(entry, checks);
    if (entry.kind === "rollout") report.conversations += 1;
  }
  yield* checkWorkspace(terminal.cwd, [home, directory], now);
  yield* await checkSockets(await runtimePlace(terminal.env, uid), checks);
}

/** Creating one sandbox is the only way to find out. */
async function sandboxStatus({ home, terminal: { cwd, env } }: CommandContext): Promise<SandboxStatus> {
  const { Sandboxes } = await import("../../../sandbox/sandboxes.js");
  const sandboxes = new Sandboxes({ homes: resolveHomes({ home, env, homedir }), config: {}, env });
  return (await sandboxes.describe({ cwd, sandbox: "workspace-write" })).status;
}

/** Falls back to the default place if the configuration is not usable. */
async function knownPlaces(context: CommandContext): Promise<ConversationPlaces> {
  try {
    return await loadPlaces(context);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const { home, codexHome } = context;
    return conversationPlaces({ home, codexHome, persistence: {} });
  }
}

/** The repair command for a conversation: by id if that finds this file, with the flags of this run. */
async function repairCommandFor(
  { id, path }: Finding,
  { directory, elsewhere }: ConversationPlaces,
  { codex, conversationDir, home }: FlagValues<"codex" | "conversationDir" | "home">,
): Promise<string> {
  const isFound = id !== undefined && (await findById([directory, ...elsewhere], id))?.path === path;
  if (!isFound) return quotedCommand(["cody", "repair", path]);
  const flags = [
    ...(codex ? ["--codex"] : []),
    ...(conversationDir === undefined ? [] : ["--conversation-dir", conversationDir]),
    ...(home === undefined ? [] : ["--home", home]),
  ];
  return quotedCommand(["cody", "repair", id, ...flags]);
}

import { lstat } from "node:fs/promises";
import { effectiveGroup } from "../../../config/settings/effective-settings.js";
import type { Config } from "../../../messages/config.js";
import { shortened } from "../../../base/text/truncate.js";
import {
  defaultExportFormat,
  type ExportFormat,
  exportFormats,
  isExportFormat,
} from "../../../rollouts/formats/export/export-format.js";
import { conversationExcerpt } from "../../../rollouts/list/conversation-excerpt.js";
import {
  findCandidates,
  cleanConversations,
  cleanedText,
  type CleanRequest,
} from "../../commands/maintenance/clean-conversations.js";
import {
  exportToDirectory,
  lossText,
  nothingExportedText,
  reportText,
  exportProject,
  projectText,
} from "../../commands/transfer/export-file.js";
import { type CommandContext, printLine } from "../../context.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { projectConversations } from "../../conversations/project-conversations.js";
import { describeError } from "../../describe-error.js";
import { counted, byteText, wholeNumber, localTime, tokenText } from "../../format.js";
import { helpTable } from "../../help-table.js";
import type { Target } from "../../workspace.js";
import { contextText, reportNotCompacted } from "../context-text.js";
import { noChanges, statText } from "../change-text.js";
import type { CurrentConversation } from "./current-conversation.js";
import { serversText } from "./server-prompts.js";

const maxShown = 10;

const maxChars = 100;

const weekMs = 7 * 24 * 60 * 60 * 1000;

const noMessagesText = "This conversation has no messages yet.";

type Then = "stay" | "leave";

/** The arguments of a slash command. */
interface SlashCall {
  readonly context: CommandContext;
  readonly current: CurrentConversation;
  /** The text after the command's name. */
  readonly text: string;
  /** Interrupts the work of the command. */
  readonly signal: AbortSignal;
  /** Asks a question; absent if nobody can answer. */
  readonly ask: Ask | undefined;
}

type Ask = (question: string) => Promise<string | undefined>;

type SlashCommand = (
  context: CommandContext,
  current: CurrentConversation,
  signal: AbortSignal,
  ask?: Ask,
) => Promise<Then>;

/** True if a line looks like a command; a path such as /usr/bin does not. */
export function isSlashCommand(line: string): boolean {
  return /^\/[A-Za-z][\w-]*(?:\s|$)/.test(line);
}

/** The command a line names, if it exists. */
export function slashCommand(line: string): SlashCommand | undefined {
  const [name = ""] = line.slice(1).split(/\s/, 1);
  const entry = commands.get(name);
  if (entry === undefined) return undefined;
  const { usage, run } = entry;
  const text = line.slice(1 + name.length).trim();
  if (usage === undefined && text !== "") return async (context) => await refuse(context, name);
  return async (context, current, signal, ask) => await run({ context, current, text, signal, ask });
}

/** Rejects extra text after a command that takes none, because it would be ignored. */
async function refuse(context: CommandContext, name: string): Promise<Then> {
  await context.tell(`✗ /${name} takes no arguments; nothing was done. Type /help for commands.`);
  return "stay";
}

interface Entry {
  /** Name and arguments as shown in the help; absent if the command takes no arguments. */
  readonly usage?: string;
  readonly description: string;
  readonly run: (call: SlashCall) => Promise<Then>;
}

const commands: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  ["help", { description: "Show this help", run: showHelp }],
  ["status", { description: "Show the conversation's id, model, token use and file", run: showStatus }],
  ["context", { description: "Show what fills the context window", run: showContext }],
  [
    "compact",
    { usage: "compact [instructions]", description: "Summarize the older part of the conversation", run: compact },
  ],
  [
    "diff",
    { usage: "diff [turn]", description: "Show the file changes of this conversation or of one turn", run: diff },
  ],
  ["undo", { description: "Revert the last turn's file changes (asks first)", run: undo }],
  ["pin", { usage: "pin <text>", description: "Add a message that compaction always keeps", run: pin }],
  ["fork", { usage: "fork [turn]", description: "Fork this conversation, optionally from an earlier turn", run: fork }],
  [
    "export",
    { usage: "export [id] [format]", description: "Export this or another conversation to a file", run: exportOne },
  ],
  [
    "export-all",
    {
      usage: "export-all [format]",
      description: "Export all conversations of this project",
      run: exportAll,
    },
  ],
  [
    "conversations",
    {
      usage: "conversations [clean|clean-all]",
      description:
        "List this project's conversations; clean moves those older than 7 days to the trash, clean-all moves all",
      run: conversations,
    },
  ],
  ["mcp", { description: "List MCP servers and their prompts", run: showServers }],
  ["clear", { description: "Start a new conversation", run: clear }],
  ["exit", { description: "Exit cody", run: quit }],
  ["quit", { description: "Exit cody", run: quit }],
]);

async function quit(): Promise<Then> {
  return "leave";
}

async function showHelp({ context }: SlashCall): Promise<Then> {
  const rows = [...commands].map(([name, { usage = name, description }]) => [`/${usage}`, description] as const);
  await printLines(context, ["Commands:", ...helpTable(rows, context.terminal.stdout.columns)]);
  return "stay";
}

async function showStatus({ context, current }: SlashCall): Promise<Then> {
  const { id, provider, model, turns, tokens, cost, file } = current.status;
  await printLines(context, [
    `Conversation: ${id}`,
    `Provider: ${provider} (${model})`,
    `Turns: ${turns}`,
    `Tokens: ${tokens}`,
    ...(cost === undefined ? [] : [`Cost: $${cost.toFixed(4)}`]),
    `File: ${file ?? "none yet"}`,
    `Limits of a turn: ${limitsText(current.workspace.config)}`,
  ]);
  return "stay";
}

function limitsText(config: Config): string {
  const { steps, seconds, tokens, cost } = effectiveGroup(config, "turnLimits");
  return [
    counted(steps, "step"),
    `${seconds} s`,
    `${tokenText(tokens)} tokens`,
    cost === undefined ? "no limit of cost" : `$${cost}`,
  ].join(", ");
}

async function showContext({ context, current }: SlashCall): Promise<Then> {
  const usage = await current.begun?.conversation.contextUsage();
  const columns = context.terminal.stdout.columns;
  await printLines(context, usage === undefined ? [noMessagesText] : contextText(usage, columns));
  return "stay";
}

/** The renderer shows the progress, as for any event of the conversation. */
async function compact({ context, current, text, signal }: SlashCall): Promise<Then> {
  const player = current.begun;
  if (player === undefined) {
    await printLines(context, [noMessagesText]);
    return "stay";
  }
  const work = player.conversation.compact(text === "" ? {} : { instructions: text });
  await reportNotCompacted(context, await player.watch(work, signal));
  return "stay";
}

async function pin({ context, current, text, signal }: SlashCall): Promise<Then> {
  if (text === "") {
    await context.tell("✗ Missing text. Usage: /pin <text>");
    return "stay";
  }
  const player = await current.player();
  await player.watch(player.conversation.pin(text), signal);
  await printLines(context, [`Pinned: ${text}`]);
  return "stay";
}

async function fork({ context, current, text }: SlashCall): Promise<Then> {
  const old = current.begun?.conversation.id;
  if (old === undefined) {
    await printLines(context, [noMessagesText]);
    return "stay";
  }
  if (!current.workspace.config.persistence.enabled) {
    await printLines(context, ["Cannot fork: this run does not save conversations."]);
    return "stay";
  }
  const afterTurn = text === "" ? undefined : wholeNumber(text);
  if (text !== "" && afterTurn === undefined) {
    await context.tell("✗ Invalid turn number. Usage: /fork [turn], counted from 1");
    return "stay";
  }
  await current.fork(afterTurn);
  await printLines(context, [`Forked conversation: ${current.id}`, `Forked from: ${old}`]);
  return "stay";
}

async function diff({ context, current, text }: SlashCall): Promise<Then> {
  const turn = text === "" ? undefined : wholeNumber(text);
  if (text !== "" && turn === undefined) {
    await context.tell("✗ Invalid turn number. Usage: /diff [turn], counted from 1");
    return "stay";
  }
  const conversation = current.begun?.conversation;
  if (conversation === undefined || conversation.rolloutPath === null) {
    await printLines(context, [noChanges(turn)]);
    return "stay";
  }
  await conversation.flush();
  // Imported on use, to keep the start of a conversation fast.
  const { SavedChanges } = await import("../../commands/changes/saved-changes.js");
  const rollout = { id: conversation.id, path: conversation.rolloutPath };
  const { undoneLines } = await import("../../commands/changes/undo-text.js");
  const changes = await SavedChanges.read(current.surroundings.places, rollout, context.terminal.env);
  const [tracker, reverted] = [changes.diff(turn), changes.reverted(turn)];
  const diffLines = [...statText(tracker.files, tracker.getSummary()), "", tracker.generateUnifiedDiff().trimEnd()];
  const lines = tracker.isEmpty ? [noChanges(turn, reverted.length > 0)] : diffLines;
  await printLines(context, [...undoneLines(reverted, changes.turns), ...lines]);
  return "stay";
}

async function undo({ context, current, signal, ask }: SlashCall): Promise<Then> {
  const { confirmUndo } = await import("./undo-command.js");
  const tell = (lines: readonly string[]): Promise<void> => printLines(context, lines);
  await confirmUndo(current, { env: context.terminal.env, tell, ask }, signal);
  return "stay";
}

async function exportOne({ context, current, text, signal }: SlashCall): Promise<Then> {
  await printLines(context, await exportNamed(context, current, text, signal));
  return "stay";
}

async function exportAll({ context, current, text, signal }: SlashCall): Promise<Then> {
  await printLines(context, await exportEach(context, current, text, signal));
  return "stay";
}

async function conversations({ context, current, text }: SlashCall): Promise<Then> {
  await printLines(context, await conversationsText(context, current, text));
  return "stay";
}

async function showServers({ context, current, signal }: SlashCall): Promise<Then> {
  await printLines(context, await serversText(current, signal));
  return "stay";
}

async function clear({ context, current }: SlashCall): Promise<Then> {
  await current.clear();
  await printLines(context, ["Conversation history cleared.", `Conversation: ${current.id}`]);
  return "stay";
}

/** With --json, stdout is for events only. */
async function printLines(context: CommandContext, lines: readonly string[]): Promise<void> {
  const text = lines.join("\n");
  await (context.flags.json ? context.tell(text) : printLine(context, text));
}

/** The output of `/conversations` and of its two clean-ups. */
async function conversationsText(
  context: CommandContext,
  current: CurrentConversation,
  text: string,
): Promise<string[]> {
  const { places, projectRoot, enabled } = current.surroundings;
  if (!enabled) {
    return [
      "Conversations are not being saved: persistence is off.",
      "To save them: cody config set persistence.enabled true",
    ];
  }
  const requests: Readonly<Record<string, CleanRequest>> = {
    clean: { projectRoot, current: current.id, olderThanMs: weekMs },
    "clean-all": { projectRoot, current: current.id },
  };
  if (text === "") return await listText(await projectConversations(context, places, projectRoot));
  const request = Object.hasOwn(requests, text) ? requests[text] : undefined;
  if (request === undefined) return ["Usage: /conversations, /conversations clean or /conversations clean-all"];
  const candidates = await findCandidates(context, places, request);
  const stays = current.begun === undefined ? [] : ["The current conversation is kept."];
  return [...cleanedText(await cleanConversations(context, places, candidates.going), candidates, request), ...stays];
}

async function listText(all: readonly SavedConversation[]): Promise<string[]> {
  if (all.length === 0) return ["No saved conversations in this project."];
  const rows = await Promise.all(all.slice(0, maxShown).map(entryText));
  const more =
    all.length > maxShown ? [`Showing the latest ${maxShown} of ${all.length}. To list all: cody list --project`] : [];
  return ["Conversations of this project:", ...rows.flat(), ...more];
}

async function entryText({ id, path, name, updatedAt, pinned }: SavedConversation): Promise<string[]> {
  const { messages, firstMessage, lastAnswer } = await conversationExcerpt(path, id);
  const bytes = await lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
  return [
    `  ${id}${name === undefined ? "" : ` (${name})`}${pinned ? " (pinned)" : ""}`,
    `    ${localTime(updatedAt)}, ${counted(messages, "message")}, ${byteText(bytes)}`,
    ...(firstMessage === undefined ? [] : [`    First: ${oneLine(firstMessage)}`]),
    ...(lastAnswer === undefined ? [] : [`    Last answer: ${oneLine(lastAnswer)}`]),
  ];
}

function oneLine(text: string): string {
  return shortened(text.trim().replaceAll(/\s+/g, " "), maxChars);
}

/** Exports the named conversation, or the current one; returns the lines to print. */
async function exportNamed(
  context: CommandContext,
  current: CurrentConversation,
  text: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { named, format } = parseExportArguments(text);
  return await reportErrors(context, async () => {
    if (named === "" && current.workspace.config.persistence.enabled && current.begun === undefined) {
      return ["This conversation has no messages yet."];
    }
    if (named === "" && !current.workspace.config.persistence.enabled) return [nothingExportedText];
    const target = named === "" ? currentTarget(current) : await findTarget(context, current.workspace.places, named);
    const report = await exportToDirectory(context, current.workspace, target, { format, signal });
    const loss = lossText(format, Object.entries(report.left));
    return [reportText(report), ...(loss === undefined ? [] : [`  ${loss}`])];
  });
}

/** Exports all conversations of the project; returns the lines to print. */
async function exportEach(
  context: CommandContext,
  { workspace }: CurrentConversation,
  text: string,
  signal: AbortSignal,
): Promise<string[]> {
  return await reportErrors(context, async () => {
    if (!workspace.config.persistence.enabled) return [nothingExportedText];
    const format = text === "" ? defaultExportFormat : text;
    if (!isExportFormat(format)) return [unknown(format)];
    return [projectText(await exportProject(context, workspace, { format, signal }))];
  });
}

/** Passes the path too, because the file may be in any folder. */
function currentTarget({ id, begun }: CurrentConversation): Target {
  const path = begun?.conversation.rolloutPath;
  return path === undefined || path === null ? { id } : { id, path };
}

/** A name may contain spaces: the last word is the format if it is one. */
function parseExportArguments(text: string): { named: string; format: ExportFormat } {
  const [, before = "", last = ""] = /^(.*?)\s*(\S*)$/.exec(text) ?? [];
  return isExportFormat(last) ? { named: before, format: last } : { named: text, format: defaultExportFormat };
}

function unknown(format: string): string {
  return `✗ Unknown format '${format}'. Formats: ${exportFormats.join(", ")}`;
}

/** A failed export must not end the interactive run. */
async function reportErrors(context: CommandContext, work: () => Promise<string[]>): Promise<string[]> {
  try {
    return await work();
  } catch (error) {
    const { lines, unexpected } = describeError(error);
    if (unexpected) throw error;
    context.log("error", lines.join(" "));
    return [...lines];
  }
}

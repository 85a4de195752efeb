import { lstat } from "node:fs/promises";
import { effectiveGroup } from "../../../config/settings/effective-settings.js";
import type { Config } from "../../../messages/settings/config.js";
import { nearestName } from "../../../base/text/nearest-name.js";
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
import type { CommandContext } from "../../context.js";
import { findTarget } from "../../conversations/choose-conversation.js";
import type { SavedConversation } from "../../conversations/named-conversations.js";
import { projectConversations } from "../../conversations/project-conversations.js";
import { describeError } from "../../describe-error.js";
import { counted, byteText, wholeNumber, localTime, tokenText } from "../../format.js";
import { helpTable } from "../../help-table.js";
import type { Target } from "../../workspace.js";
import { contextText, reportNotCompacted } from "../context-text.js";
import { noChanges, statText } from "../change-text.js";
import { newConversation, processes, rename, resume, showCost, tree, uncompact } from "./conversation-commands.js";
import { keyRows } from "./key-rows.js";
import type { PromptConversation } from "./prompt-conversation.js";
import { serversText } from "./server-prompts.js";
import { approvals, changeModel, changeProvider, hooks, knowledge, permissions, sandbox } from "./settings-commands.js";
import { printLines, type SlashCall, type SlashSurroundings, type Then } from "./slash-call.js";

const maxShown = 10;

const maxChars = 100;

const weekMs = 7 * 24 * 60 * 60 * 1000;

const noMessagesText = "This conversation has no messages yet.";

type SlashCommand = (surroundings: SlashSurroundings) => Promise<Then>;

/** True if a line looks like a command; a path such as /usr/bin does not. */
export function isSlashCommand(line: string): boolean {
  return /^\/[A-Za-z][\w-]*(?:\s|$)/.test(line);
}

/** The command a line names, if it exists. */
export function slashCommand(line: string): SlashCommand | undefined {
  const name = nameIn(line);
  const entry = commands.get(name);
  if (entry === undefined) return undefined;
  const { usage, run, isForScreen = false } = entry;
  const text = line.slice(1 + name.length).trim();
  return async (surroundings) => {
    const { context, screen } = surroundings;
    if (usage === undefined && text !== "")
      return await refuse(context, `✗ /${name} takes no arguments; nothing was done.`);
    if (isForScreen && screen === undefined) return await refuse(context, `✗ /${name} needs the interactive screen.`);
    return await run({ ...surroundings, text });
  };
}

function nameIn(line: string): string {
  return line.slice(1).split(/\s/, 1)[0] ?? "";
}

/** Rejects a command that would have no effect. */
async function refuse(context: CommandContext, why: string): Promise<Then> {
  await context.tell(`${why} Type /help for commands.`);
  return "stay";
}

/** The message for a line that looks like a command but is not one. */
export function unknownCommandText(line: string): string {
  const name = nameIn(line);
  const nearest = nearestName(name, [...commands.keys()]);
  const hint = nearest === undefined ? "" : ` Did you mean /${nearest}?`;
  return `✗ Unknown command /${name}.${hint} Type /help for commands.`;
}

interface SlashCommandRow {
  readonly name: string;
  /** The name with its arguments; the name alone if it takes none. */
  readonly usage: string;
  readonly description: string;
}

/** The commands in the order of the help. */
export function slashCommandRows(isOnScreen: boolean): SlashCommandRow[] {
  return [...commands]
    .filter(([, { isForScreen = false }]) => isOnScreen || !isForScreen)
    .map(([name, { usage = name, description }]) => ({ name, usage, description }));
}

interface Entry {
  /** Name and arguments as shown in the help; absent if the command takes no arguments. */
  readonly usage?: string;
  readonly description: string;
  readonly run: (call: SlashCall) => Promise<Then>;
  /** Does nothing useful in the plain prompt. */
  readonly isForScreen?: boolean;
}

const commands: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  ["help", { description: "Show this help", run: showHelp }],
  ["status", { description: "Show the conversation's id, model, token use and file", run: showStatus }],
  ["cost", { description: "Show tokens and cost", run: showCost }],
  ["ps", { usage: "ps [--all]", description: "List the open conversations", run: processes }],
  ["new", { description: "Start a new conversation; the screen keeps this one open", run: newConversation }],
  ["clear", { description: "End this conversation and start a new one", run: clear }],
  ["resume", { usage: "resume [id]", description: "Continue another conversation", run: resume }],
  ["fork", { usage: "fork [turn]", description: "Fork this conversation, optionally from an earlier turn", run: fork }],
  ["tree", { description: "Show the turns of this conversation, and go back to one", run: tree }],
  ["rename", { usage: "rename <name>", description: "Name this conversation", run: rename }],
  ["context", { description: "Show what fills the context window", run: showContext }],
  [
    "compact",
    { usage: "compact [instructions]", description: "Summarize the older part of the conversation", run: compact },
  ],
  ["uncompact", { description: "Restore the history before the last compaction", run: uncompact }],
  [
    "diff",
    { usage: "diff [turn]", description: "Show the file changes of this conversation or of one turn", run: diff },
  ],
  ["undo", { description: "Revert the last turn's file changes (asks first)", run: undo }],
  ["pin", { usage: "pin <text>", description: "Add a message that compaction always keeps", run: pin }],
  ["model", { usage: "model [name]", description: "Show or change the model", run: changeModel }],
  ["provider", { usage: "provider [name] [model]", description: "Show or change the provider", run: changeProvider }],
  ["approvals", { usage: "approvals [policy]", description: "Show or change when cody asks", run: approvals }],
  [
    "permissions",
    {
      usage: "permissions [allow|ask|deny|remove rule]",
      description: "Show or change the rules of this project about commands and paths",
      run: permissions,
    },
  ],
  ["sandbox", { usage: "sandbox [mode|status]", description: "Show or change what commands may access", run: sandbox }],
  ["mcp", { description: "List MCP servers and their prompts", run: showServers }],
  [
    "knowledge",
    { usage: "knowledge [action]", description: "Show what cody knows about this project", run: knowledge },
  ],
  ["hooks", { description: "List the hooks", run: hooks }],
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
  [
    "theme",
    {
      usage: "theme [auto|dark|light|none]",
      description: "Change the colours",
      run: theme,
      isForScreen: true,
    },
  ],
  ["vim", { description: "Change between emacs and vi keys", run: vim, isForScreen: true }],
  ["copy", { description: "Copy the last answer", run: copy, isForScreen: true }],
  ["exit", { description: "Exit cody", run: quit }],
  ["quit", { description: "Exit cody", run: quit }],
]);

async function theme({ context, text, screen }: SlashCall): Promise<Then> {
  if (text === "") await screen?.pick("theme");
  else if (screen !== undefined) await printLines(context, [await screen.setTheme(text)]);
  return "stay";
}

async function vim({ context, screen }: SlashCall): Promise<Then> {
  if (screen !== undefined) await printLines(context, [await screen.toggleKeys()]);
  return "stay";
}

async function copy({ context, screen }: SlashCall): Promise<Then> {
  if (screen !== undefined) await printLines(context, [screen.copyAnswer()]);
  return "stay";
}

async function quit(): Promise<Then> {
  return "leave";
}

async function showHelp({ context, screen }: SlashCall): Promise<Then> {
  const columns = context.terminal.stdout.columns;
  const rows = slashCommandRows(screen !== undefined).map(
    ({ usage, description }) => [`/${usage}`, description] as const,
  );
  const keys = screen === undefined ? [] : ["", "Keys:", ...helpTable(keyRows, columns)];
  await printLines(context, ["Commands:", ...helpTable(rows, columns), ...keys]);
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

async function fork({ context, current, text, screen }: SlashCall): Promise<Then> {
  const old = current.begun?.conversation.id;
  if (old === undefined) {
    await printLines(context, [noMessagesText]);
    return "stay";
  }
  if (!current.workspace.config.persistence.enabled) {
    await printLines(context, ["Cannot fork: this run does not save conversations."]);
    return "stay";
  }
  if (text === "" && screen !== undefined) {
    await screen.pick("fork");
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

async function diff({ context, current, text, screen }: SlashCall): Promise<Then> {
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
  const undone = undoneLines(reverted, changes.turns);
  if (tracker.isEmpty) {
    await printLines(context, [...undone, noChanges(turn, reverted.length > 0)]);
    return "stay";
  }
  const unifiedDiff = tracker.generateUnifiedDiff().trimEnd();
  const plain = screen === undefined ? ["", unifiedDiff] : [];
  await printLines(context, [...undone, ...statText(tracker.files, tracker.getSummary()), ...plain]);
  screen?.printDiff(unifiedDiff);
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

/** The output of `/conversations` and of its two clean-ups. */
async function conversationsText(
  context: CommandContext,
  current: PromptConversation,
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
  current: PromptConversation,
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
  { workspace }: PromptConversation,
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
function currentTarget({ id, begun }: PromptConversation): Target {
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

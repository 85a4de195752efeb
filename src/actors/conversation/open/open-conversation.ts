import { v7 as uuidv7 } from "uuid";
import { ConversationInUseError, EmptyRolloutError, InvalidInputError } from "../../../base/errors.js";
import { isConversationId, shownId } from "../../../base/text/conversation-id.js";
import { conversationName } from "../../../base/text/conversation-name.js";
import { counted } from "../../../base/text/counted.js";
import type { ProjectRoots } from "../../../config/project/project.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import type { ConversationMsg, OpenConversation } from "../../../messages/actors/conversation.js";
import type { ConversationConfig } from "../../../messages/settings/conversation-config.js";
import type { FailureCode } from "../../../messages/failure.js";
import type { OwnLine } from "../../../messages/rollout-line.js";
import type { OpenOutcome, SaveOutcome } from "../../../messages/actors/rollout-writer.js";
import type { SessionSource } from "../../../messages/turn-context.js";
import { sessionMetaLine } from "../../../rollouts/file/encode.js";
import { FileStamps } from "../../../tools/files/file-stamps.js";
import type { ConversationServers } from "../../mcp/conversation-servers.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import { spawn } from "../../runtime/spawn.js";
import type { ConversationLink, EventSink } from "../channel.js";
import { conversation, lostInput } from "../conversation.js";
import { isPaginated, nameLine, readParent } from "../saved/saved-conversations.js";
import type { ConversationCell } from "../state/live-state.js";
import { joinNotices, recordedConfig, type Settings, toTurnContext } from "../state/settings.js";
import { apply, type ConversationState, emptyState, isUnanswered, Transcript } from "../state/state.js";
import type { OpenedRollout, StoredState } from "../store/store.js";
import { Recording } from "../turn/recording.js";
import type { ConversationPrompt } from "../turn/system-prompt.js";
import type { ConversationHost } from "./host.js";
import { chooseWorkingFolder, type WorkingFolder } from "./working-folder.js";

const idRule = "1 to 128 letters, digits, _ and -, the first a letter or digit";

const recordedCwdOfNew =
  'cwd: "recorded" is only for resuming and forking. For a new conversation in a folder of that name, pass "./recorded"';

type Creation = Extract<OpenConversation, { mode: "create" }>;

type Resumption = Extract<OpenConversation, { mode: "resume" }>;

/** An open conversation, in the thread of its actor. */
export interface OpenedConversation extends ConversationLink {
  /** Whether its first line is on disk. */
  readonly saved: SaveOutcome;
  /** The length of the rollout with the lines that wait to be written. */
  rolloutBytes(): number;
}

/**
 * Opens a conversation: its settings, its rollout with the lock, its state and its actor. What it publishes goes to the
 * sink, beginning with the facts for the mirror. Returns undefined when only Codex may write to the file.
 */
export async function openConversation(
  host: ConversationHost,
  request: OpenConversation,
  sink: EventSink,
): Promise<OpenedConversation | undefined> {
  return request.mode === "create" ? await create(host, request, sink) : await resume(host, request, sink);
}

/** Creates a conversation, with the lines inherited from its parent if it is a fork. */
async function create(host: ConversationHost, request: Creation, sink: EventSink): Promise<OpenedConversation> {
  const { conversationId, config } = request;
  const parent = request.parent && (await readParent(host.store, request.parent.id, request.parent.afterTurn));
  const { id: forkedFrom, lines: inherited = [], recorded = {} } = parent ?? {};
  const resumes = request.parent?.isResumed === true ? forkedFrom : undefined;
  const name = config.name === undefined ? undefined : conversationName(config.name);
  if (parent === undefined && config.cwd === "recorded") throw new InvalidInputError(recordedCwdOfNew);
  const folder = parent === undefined ? undefined : await workingFolder(host, recorded, config);
  const { settings, notice } = host.settings(recorded, { ...config, ...(folder && { cwd: folder.cwd }) });
  const labels = { provider: settings.provider, model: settings.model };
  const [now, { cwd }] = [host.now(), settings];
  const projectSearch = host.projects.find(cwd);
  const [opened, project, git, prompt] = await Promise.all([
    host.store.open({ conversationId, mode: "create", ...labels, now, cwd, force: false }),
    projectSearch,
    projectSearch.then(({ root }) => host.gitInfo(root)),
    host.openPrompt(cwd),
  ]);
  const { outcome, rollout } = opened;
  refuseInUse(conversationId, outcome);
  const state = emptyState();
  const first = sessionMetaLine({
    conversationId,
    now,
    cwd,
    ...labels,
    source: host.source,
    resumes,
    git,
    forkedFrom,
  });
  const transcript = new Transcript();
  for (const line of [first, ...inherited, ...(name === undefined ? [] : [nameLine(name, now)])]) {
    apply(state, line);
    transcript.add(line);
    rollout.append(line);
  }
  // Inherited turns record the previous model, not the one that continues.
  if (hasNewChoice(state, settings, config)) remember(host, state, settings, rollout);
  // A rollout that could not be opened was already waited for.
  const saved = outcome.status === "not_saved" ? outcome : await rollout.flush();
  const indexed = saved.status === "saved" ? await indexName(host, conversationId, state, "rename") : saved;
  const indexFailure = saved.status === "saved" && indexed.status === "not_saved" ? indexed.reason : undefined;
  const { servers, hooks, notice: projectNotice } = await host.openProject(project);
  const copied =
    resumes === undefined ? undefined : `Only Codex can write to ${resumes}, so this conversation is a copy of it`;
  return start(host, sink, {
    ...opened,
    conversationId,
    state,
    shown: transcript.messages(),
    settings,
    prompt,
    project,
    servers,
    hooks,
    saved,
    sessionSource: resumes === undefined ? host.source : { resume: resumes },
    continuesOpenTurn: false,
    notice: joinNotices([notice, opened.notice, copied, folder?.notice, indexFailure, projectNotice]),
    recordedCwd: recorded.cwd,
  });
}

/** Resumes a saved conversation in the same file. */
async function resume(
  host: ConversationHost,
  request: Resumption,
  sink: EventSink,
): Promise<OpenedConversation | undefined> {
  const { conversationId, reopening } = request;
  const { allowEmpty = false, force = false, ...changes } = request.config;
  // Checked before the file is read, which may take long; the lock is taken afterwards.
  const holder = force ? undefined : await host.store.holder(conversationId).catch(() => undefined);
  if (holder !== undefined) throw new ConversationInUseError(conversationId, holder);
  const before = await host.store.load(conversationId);
  if (isEmpty(before.state) && !allowEmpty && reopening === undefined) throw new EmptyRolloutError(conversationId);
  if (isPaginated(before.state) && effectiveSetting(host.config, "persistence.enabled")) return undefined;
  const recorded = recordedConfig(before.state);
  const folder: WorkingFolder =
    reopening === undefined ? await workingFolder(host, recorded, changes) : { cwd: reopening.settings.cwd };
  const { settings, notice } =
    reopening === undefined
      ? host.settings(recorded, { ...changes, cwd: folder.cwd })
      : { settings: reopening.settings, notice: undefined };
  const { provider, model, cwd } = settings;
  const now = host.now();
  // Searched while the file is opened, so that conversations which are opened together share the searches.
  const [opened, prompt, project] = await Promise.all([
    host.store.open({ conversationId, mode: "append", provider, model, now, cwd, force }),
    host.openPrompt(cwd, reopening?.memory?.shownNotices),
    host.projects.find(cwd),
  ]);
  const { outcome, rollout } = opened;
  refuseInUse(conversationId, outcome);
  // Another process may have written between reading the file and taking the lock.
  const isChanged = outcome.status === "open" && outcome.bytes !== 0 && outcome.bytes !== before.bytes;
  const { state, shown, skipped } = isChanged ? await loadOrClose(host, conversationId, rollout) : before;
  if (state.meta === undefined) beginFile(host, conversationId, state, settings, rollout);
  if (hasNewChoice(state, settings, changes)) remember(host, state, settings, rollout);
  await indexName(host, conversationId, state, "repair");
  await indexPin(host, conversationId, state, "repair");
  const { servers, hooks, notice: projectNotice } = await host.openProject(project);
  const notices = [notice, opened.notice, folder.notice, tornNotice(outcome), skippedNotice(skipped), projectNotice];
  return start(host, sink, {
    ...opened,
    conversationId,
    state,
    shown,
    settings,
    prompt,
    project,
    servers,
    hooks,
    saved: { status: "saved" },
    sessionSource: reopening?.memory?.sessionSource ?? { resume: conversationId },
    continuesOpenTurn: rollout.path !== null,
    notice: joinNotices(notices),
    recordedCwd: recorded.cwd,
    reopening,
  });
}

interface Prepared extends Pick<OpenedRollout, "rollout" | "blobs" | "snapshots"> {
  readonly conversationId: string;
  readonly state: ConversationState;
  /** The transcript shown on resume. */
  readonly shown: ConversationCell["shown"];
  readonly settings: Settings;
  readonly prompt: ConversationPrompt;
  readonly project: ProjectRoots;
  readonly servers: ConversationServers | undefined;
  readonly hooks: Parameters<ConversationHost["hooks"]>[0]["project"];
  readonly saved: SaveOutcome;
  readonly sessionSource: SessionSource;
  readonly recordedCwd: string | undefined;
  readonly continuesOpenTurn: boolean;
  /** For the user, before the first turn. */
  readonly notice: string | undefined;
  readonly reopening?: Resumption["reopening"];
}

/** Starts the actor of a conversation whose rollout is open. */
function start(host: ConversationHost, sink: EventSink, prepared: Prepared): OpenedConversation {
  const { conversationId, rollout, state, settings, servers, saved, reopening } = prepared;
  const memory = reopening?.memory;
  // The compactor's summary is of this history, unless another process has appended to it.
  const kept = memory?.prepared?.bytes === rollout.bytes ? memory.prepared : undefined;
  const context = host.startContext(prepared);
  const source = typeof prepared.sessionSource === "string" ? "startup" : "resume";
  const hooks = host.hooks({
    conversationId,
    rolloutPath: rollout.path,
    project: prepared.hooks,
    opened: reopening === undefined ? source : undefined,
  });
  for (const folder of memory?.untracked ?? []) context.changes?.untracked.add(folder);
  const cell: ConversationCell = {
    state,
    queue: [],
    steered: [],
    running: undefined,
    settings,
    turn: undefined,
    isStarted: false,
    shown: prepared.shown,
    approvedCommands: new Set(reopening?.approvedCommands),
    stamps: new FileStamps(memory?.stamps),
    previousSettings: memory?.previousSettings,
    attempts: memory?.attempts ?? { failures: 0, stalledAt: 0 },
    generation: kept?.generation ?? 0,
    counted: undefined,
    preparation: kept && { generation: kept.generation, cut: kept.cut, status: "ready" },
    tokenRatio: undefined,
    prompt: prepared.prompt.text(settings.cwd),
  };
  const publish = (msg: ConversationMsg, id: string): void => sink.publish(msg, id);
  publish({ type: "mirror", change: openedChange(cell, prepared) }, "");
  const ref = spawn(
    { ...conversation, name: `conversation ${conversationId}` },
    {
      ...context,
      hooks,
      cell,
      rollout,
      recordedCwd: prepared.recordedCwd,
      continuesOpenTurn: prepared.continuesOpenTurn,
      isReopened: reopening !== undefined,
      outsideSource: memory?.outsideSource,
      shownNotices: () => prepared.prompt.shownNotices,
      eventRoom: () => sink.room(),
      indexName: () => indexName(host, conversationId, state, "rename"),
      indexPin: () => indexPin(host, conversationId, state, "pin"),
    },
    {
      onEvent: ({ id, msg }) => publish(msg, id),
      ...(sink.active === undefined ? {} : { onActive: sink.active }),
      onRestart: (failure) =>
        publish(
          errorMsg(`the conversation was restarted after an internal error: ${failure.message}`, "internal"),
          cell.turn?.submissionId ?? "",
        ),
      onDropped: (id) => publish(errorMsg("the conversation has ended", "actor_stopped"), id),
      onFailed: (failure) => {
        publish(errorMsg(`the conversation has failed: ${failure.message}`, "internal"), "");
        endOpenTurns(host, cell, rollout, publish);
        sink.failed();
      },
    },
  );
  return {
    ref,
    saved,
    state: () => state,
    rolloutBytes: () => rollout.bytes,
    close: async () => {
      await rollout.close();
      await ref.stop();
      hooks?.close();
      await servers?.release();
    },
  };
}

function openedChange(
  { state, settings, prompt }: ConversationCell,
  { rollout, notice, reopening, project, servers }: Prepared,
): Extract<ConversationMsg, { type: "mirror" }>["change"] {
  return {
    type: "opened",
    rolloutPath: rollout.path,
    ...(notice === undefined ? {} : { notice }),
    ...(state.named === undefined ? {} : { name: state.named.name }),
    pinned: state.pin?.pinned ?? false,
    settings,
    turns: state.turns,
    usage: state.usage,
    ...(state.openTurn === undefined ? {} : { openTurn: state.openTurn.id }),
    ...(state.lastEnd === undefined || reopening === undefined ? {} : { lastEnd: state.lastEnd }),
    unapprovedCalls: [...state.approvals].flatMap(([callId, approval]) => (isUnanswered(approval) ? [callId] : [])),
    prompt,
    ...(servers && { servers: { root: project.realRoot, names: servers.servers.map(({ name }) => name) } }),
  };
}

/** Ends open turns and pending inputs, whose callers would otherwise wait for ever, because no incarnation follows. */
function endOpenTurns(
  host: ConversationHost,
  cell: ConversationCell,
  rollout: Rollout,
  publish: (msg: ConversationMsg, id: string) => void,
): void {
  const recording = new Recording(cell, rollout, () => host.now(), publish);
  const open = cell.state.openTurn;
  try {
    recording.closeOpenTurn(cell.turn, []);
  } catch {
    // Creating a line may be what is broken; then the end is only published, not written.
    const msg = { type: "turn_aborted", turn_id: open?.id, reason: "interrupted" } as const;
    if (open !== undefined) publish(msg, cell.turn?.submissionId ?? "");
  }
  const lost = lostInput(cell);
  const waiting = [...cell.steered.splice(0), ...cell.queue.splice(0)];
  for (const { submissionId } of [...(lost === undefined ? [] : [lost]), ...waiting]) {
    publish(errorMsg("the conversation has failed", "internal"), submissionId);
  }
}

function errorMsg(message: string, code: FailureCode): ConversationMsg {
  return { type: "error", message, codex_error_info: code };
}

function workingFolder(
  host: ConversationHost,
  recorded: ConversationConfig,
  requested: ConversationConfig,
): Promise<WorkingFolder> {
  return chooseWorkingFolder({ recorded: recorded.cwd, asked: requested.cwd, callers: host.cwd });
}

async function indexName(
  host: ConversationHost,
  id: string,
  { named }: ConversationState,
  mode: "rename" | "repair",
): Promise<SaveOutcome> {
  return named === undefined ? { status: "saved" } : await host.store.indexName(id, named, mode);
}

async function indexPin(
  host: ConversationHost,
  id: string,
  { pin }: ConversationState,
  mode: "pin" | "repair",
): Promise<SaveOutcome> {
  return pin === undefined ? { status: "saved" } : await host.store.indexPin(id, pin, mode);
}

/** Adds the missing first line to a file that a crash left empty right after it was created. */
function beginFile(
  host: ConversationHost,
  conversationId: string,
  state: ConversationState,
  { provider, model, cwd }: Settings,
  rollout: Rollout,
): void {
  const line = sessionMetaLine({ conversationId, now: host.now(), cwd, provider, model, source: host.source });
  apply(state, line);
  rollout.append(line);
}

/** Records the model chosen on resume, so that it is used again even if the process ends before the next turn. */
function remember(host: ConversationHost, state: ConversationState, settings: Settings, rollout: Rollout): void {
  const line: OwnLine = {
    timestamp: host.now().toISOString(),
    type: "turn_context",
    payload: toTurnContext(settings),
  };
  apply(state, line);
  rollout.append(line);
}

/** Closes a rollout that cannot be read, so that it does not stay locked. */
async function loadOrClose(host: ConversationHost, conversationId: string, rollout: Rollout): Promise<StoredState> {
  try {
    return await host.store.load(conversationId);
  } catch (error) {
    await rollout.close();
    throw error;
  }
}

/** Returns the id of a new conversation: the requested one, or a new one. Throws when it is not valid. */
export function idOfNew(requested: string | undefined): string {
  const id = requested === undefined ? newConversationId() : shownId(requested);
  if (!isConversationId(id)) throw new InvalidInputError(`a conversation id has ${idRule}`);
  return id;
}

export function newConversationId(): string {
  return shownId(uuidv7());
}

function refuseInUse(conversationId: string, outcome: OpenedRollout["outcome"]): void {
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
}

/** Whether the caller asks for a provider, a model, an API or a policy that differs from the rollout's last ones. */
function hasNewChoice(state: ConversationState, settings: Settings, requested: ConversationConfig): boolean {
  const { provider, api, model, approvalPolicy, sandbox } = requested;
  const last = state.turnContext ?? state.metadata;
  const recorded = recordedConfig(state);
  const isOther =
    (provider !== undefined || model !== undefined) &&
    (last?.provider !== settings.provider || last.model !== settings.model);
  const isOtherApi = api !== undefined && settings.isApiChosen === true && recorded.api !== api;
  const isOtherPolicy =
    state.turnContext !== undefined &&
    ((approvalPolicy !== undefined && recorded.approvalPolicy !== settings.approvalPolicy) ||
      (sandbox !== undefined && recorded.sandbox !== sandbox));
  return isOther || isOtherApi || isOtherPolicy;
}

/** Whether nothing was ever said; a cleared history does not count as empty. */
function isEmpty({ history, turns, isReplaced }: ConversationState): boolean {
  return history.length === 0 && turns === 0 && !isReplaced;
}

function tornNotice(outcome: OpenOutcome): string | undefined {
  if (outcome.status !== "open" || outcome.torn === undefined) return undefined;
  const { bytes, keptAs } = outcome.torn;
  return `The last line was incomplete after a crash: its ${counted(bytes, "byte")} were moved to ${keptAs}`;
}

function skippedNotice(skipped: number): string | undefined {
  return skipped === 0 ? undefined : `${skipped} line(s) of an unknown type were skipped`;
}

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { v7 as uuidv7 } from "uuid";
import { ConversationInUseError, EmptyRolloutError, InvalidInputError } from "../../../base/errors.js";
import { isConversationId, shownId } from "../../../base/text/conversation-id.js";
import { conversationName } from "../../../base/text/conversation-name.js";
import { counted } from "../../../base/text/counted.js";
import { visible } from "../../../base/text/visible.js";
import { readGitInfo } from "../../../config/project/project.js";
import { effectiveSetting } from "../../../config/settings/effective-settings.js";
import type { ModelTarget } from "../../../messages/compactor.js";
import type { ConversationConfig, ResumeConfig } from "../../../messages/conversation-config.js";
import type { SaveOutcome, OpenOutcome } from "../../../messages/rollout-writer.js";
import type { OwnLine, GitInfo } from "../../../messages/rollout-line.js";
import { sessionMetaLine } from "../../../rollouts/file/encode.js";
import type { SummaryProvider } from "../../compactor/summarizer.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Conversation } from "../handle.js";
import { nameLine, isPaginated, type Parent } from "../saved/saved-conversations.js";
import { type Settings, toTurnContext, recordedConfig } from "../state/settings.js";
import { apply, type ConversationState, emptyState, Transcript } from "../state/state.js";
import type { OpenedRollout, Store, StoredState } from "../store/store.js";
import type { NewConversation } from "./manager-options.js";
import { ConversationSpawner, type SpawnerParts, type SpawnInput } from "./spawner.js";

const idRule = "1 to 128 letters, digits, _ and -, the first a letter or digit";

const recordedCwdOfNew =
  'cwd: "recorded" is only for resuming and forking. For a new conversation in a folder of that name, pass "./recorded"';

/** The manager's parts needed to open conversations; the manager keeps the open ones. */
interface OpenerParts extends SpawnerParts {
  readonly store: Store;
  isLive(conversationId: string): boolean;
  isShutDown(): boolean;
}

/** Opens a conversation: its settings, rollout and lock, state and actor. */
export class ConversationOpener {
  readonly #parts: OpenerParts;
  readonly #spawner: ConversationSpawner;
  readonly #gitInfos = new GitInfos();

  constructor(parts: OpenerParts) {
    this.#parts = parts;
    this.#spawner = new ConversationSpawner(parts);
  }

  /** Finds the provider of a model that summarizes. */
  summaryProvider(target: ModelTarget): SummaryProvider {
    return this.#spawner.summaryProvider(target);
  }

  /** Creates a conversation, with the lines inherited from its parent if it is a fork. */
  async create(config: ConversationConfig, parent?: Parent): Promise<NewConversation> {
    const { id: forkedFrom, lines: inherited = [], recorded = {}, notice: parentNotice } = parent ?? {};
    const resumes = parent?.isResumed === true ? parent.id : undefined;
    this.#refuseAfterShutdown();
    const conversationId = config.id === undefined ? newConversationId() : shownId(config.id);
    if (!isConversationId(conversationId)) throw new InvalidInputError(`a conversation id has ${idRule}`);
    if (
      config.id !== undefined &&
      (this.#parts.isLive(conversationId) || (await this.#parts.store.has(conversationId)))
    ) {
      throw new InvalidInputError(`conversation ${conversationId} already exists`);
    }
    const name = config.name === undefined ? undefined : conversationName(config.name);
    if (parent === undefined && config.cwd === "recorded") throw new InvalidInputError(recordedCwdOfNew);
    const workingFolder = parent === undefined ? undefined : await this.#workingFolder(recorded, config);
    const { settings, notice } = this.#spawner.settings(recorded, {
      ...config,
      ...(workingFolder && { cwd: workingFolder.cwd }),
    });
    const labels = { provider: settings.provider, model: settings.model };
    const [now, { cwd }] = [this.#now(), settings];
    const projectSearch = this.#parts.projects.find(cwd);
    const [{ outcome, notice: openNotice, ...opened }, project, git, prompt] = await Promise.all([
      this.#parts.store.open({ conversationId, mode: "create", ...labels, now, cwd, force: false }),
      projectSearch,
      projectSearch.then(({ root }) => this.#gitInfos.of(root)),
      this.#spawner.openPrompt(cwd),
    ]);
    refuseInUse(conversationId, outcome);
    const { rollout } = opened;
    const source = this.#parts.options.source ?? "non_interactive";
    const state = emptyState();
    const first = sessionMetaLine({ conversationId, now, cwd, ...labels, source, resumes, git, forkedFrom });
    const transcript = new Transcript();
    for (const line of [first, ...inherited, ...(name === undefined ? [] : [nameLine(name, now)])]) {
      apply(state, line);
      transcript.add(line);
      rollout.append(line);
    }
    // Inherited turns record the previous model, not the one that continues.
    if (hasNewChoice(state, settings, config)) this.#remember(state, settings, rollout);
    // A rollout that could not be opened was already waited for.
    const saved = outcome.status === "not_saved" ? outcome : await rollout.flush();
    const indexed = saved.status === "saved" ? await this.#indexName(conversationId, state, "rename") : saved;
    const indexFailure = saved.status === "saved" && indexed.status === "not_saved" ? indexed.reason : undefined;
    await this.#refuseOpened(rollout);
    const { lease, notice: serverNotice } = await this.#spawner.leaseServers(project);
    const conversation = await this.#spawner.spawn({
      conversationId,
      state,
      shown: transcript.messages(),
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: resumes === undefined ? source : { resume: resumes },
      continuesOpenTurn: false,
      notice: joinNotices([notice, openNotice, parentNotice, workingFolder?.notice, indexFailure, serverNotice]),
      recordedCwd: recorded.cwd,
      ...this.#listing(conversationId, state),
    });
    return { conversation, conversationId, saved };
  }

  /** Resumes a saved conversation in the same file; returns `codex_only` when only Codex may write to it. */
  async resume(conversationId: string, config: ResumeConfig): Promise<Conversation | "codex_only"> {
    const { allowEmpty = false, force = false, ...changes } = config;
    // Checked before the file is read, which may take long; the lock is taken afterwards.
    const holder = force ? undefined : await this.#parts.store.holder(conversationId).catch(() => undefined);
    if (holder !== undefined) throw new ConversationInUseError(conversationId, holder);
    const before = await this.#parts.store.load(conversationId);
    if (isEmpty(before.state) && !allowEmpty) throw new EmptyRolloutError(conversationId);
    if (isPaginated(before.state) && effectiveSetting(this.#parts.config, "persistence.enabled")) return "codex_only";
    const recorded = recordedConfig(before.state);
    const workingFolder = await this.#workingFolder(recorded, changes);
    const { settings, notice } = this.#spawner.settings(recorded, { ...changes, cwd: workingFolder.cwd });
    const { provider, model, cwd } = settings;
    const {
      outcome,
      notice: openNotice,
      ...opened
    } = await this.#parts.store.open({
      conversationId,
      mode: "append",
      provider,
      model,
      now: this.#now(),
      cwd,
      force,
    });
    refuseInUse(conversationId, outcome);
    const { rollout } = opened;
    await this.#refuseOpened(rollout);
    const [prompt, project] = await Promise.all([this.#spawner.openPrompt(cwd), this.#parts.projects.find(cwd)]);
    // Another process may have written between reading the file and taking the lock.
    const isChanged = outcome.status === "open" && outcome.bytes !== 0 && outcome.bytes !== before.bytes;
    const { state, shown, skipped } = isChanged ? await this.#loadOrClose(conversationId, rollout) : before;
    if (state.meta === undefined) this.#begin(conversationId, state, settings, rollout);
    if (hasNewChoice(state, settings, changes)) this.#remember(state, settings, rollout);
    await this.#indexName(conversationId, state, "repair");
    await this.#indexPin(conversationId, state, "repair");
    const { lease, notice: serverNotice } = await this.#spawner.leaseServers(project);
    const notices = [
      notice,
      openNotice,
      workingFolder.notice,
      tornNotice(outcome),
      skippedNotice(skipped),
      serverNotice,
    ];
    return await this.#spawner.spawn({
      conversationId,
      state,
      shown,
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: { resume: conversationId },
      continuesOpenTurn: rollout.path !== null,
      notice: joinNotices(notices),
      recordedCwd: recorded.cwd,
      ...this.#listing(conversationId, state),
    });
  }

  #workingFolder(recorded: ConversationConfig, requested: ConversationConfig): Promise<WorkingFolder> {
    return chooseWorkingFolder({ recorded: recorded.cwd, asked: requested.cwd, callers: this.#spawner.cwd });
  }

  #listing(id: string, state: ConversationState): Pick<SpawnInput, "onRenamed" | "onPinned"> {
    return {
      onRenamed: () => this.#indexName(id, state, "rename"),
      onPinned: () => this.#indexPin(id, state, "pin"),
    };
  }

  async #indexName(id: string, { named }: ConversationState, mode: "rename" | "repair"): Promise<SaveOutcome> {
    return named === undefined ? { status: "saved" } : await this.#parts.store.indexName(id, named, mode);
  }

  async #indexPin(id: string, { pin }: ConversationState, mode: "pin" | "repair"): Promise<SaveOutcome> {
    return pin === undefined ? { status: "saved" } : await this.#parts.store.indexPin(id, pin, mode);
  }

  /** Adds the missing first line to a file that a crash left empty right after it was created. */
  #begin(conversationId: string, state: ConversationState, settings: Settings, rollout: Rollout): void {
    const { provider, model, cwd } = settings;
    const source = this.#parts.options.source ?? "non_interactive";
    const line = sessionMetaLine({ conversationId, now: this.#now(), cwd, provider, model, source });
    apply(state, line);
    rollout.append(line);
  }

  /** Records the model chosen on resume, so that it is used again even if the process ends before the next turn. */
  #remember(state: ConversationState, settings: Settings, rollout: Rollout): void {
    const timestamp = this.#now().toISOString();
    const line: OwnLine = { timestamp, type: "turn_context", payload: toTurnContext(settings) };
    apply(state, line);
    rollout.append(line);
  }

  /** Closes a rollout that cannot be read, so that it does not stay locked. */
  async #loadOrClose(conversationId: string, rollout: Rollout): Promise<StoredState> {
    try {
      return await this.#parts.store.load(conversationId);
    } catch (error) {
      await rollout.close();
      throw error;
    }
  }

  /** Releases what conversations share; no turn may be running any more. */
  async close(): Promise<void> {
    await this.#spawner.close();
  }

  /** Closes a rollout that was opened while the manager was being shut down, and throws. */
  async #refuseOpened(rollout: Rollout): Promise<void> {
    if (this.#parts.isShutDown()) await rollout.close();
    this.#refuseAfterShutdown();
  }

  #refuseAfterShutdown(): void {
    if (this.#parts.isShutDown()) throw new InvalidInputError("the manager has been shut down");
  }

  #now(): Date {
    return this.#parts.options.now?.() ?? new Date();
  }
}

export function newConversationId(): string {
  return shownId(uuidv7());
}

function joinNotices(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((text) => text !== undefined).join("\n") || undefined;
}

function refuseInUse(conversationId: string, outcome: OpenedRollout["outcome"]): void {
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
}

/** Reads git information of projects. Conversations that are opened together read it once. */
class GitInfos {
  readonly #lookups = new Map<string, Promise<GitInfo | undefined>>();

  of(root: string): Promise<GitInfo | undefined> {
    const known = this.#lookups.get(root);
    if (known !== undefined) return known;
    const lookup = readGitInfo(root).finally(() => this.#lookups.delete(root));
    this.#lookups.set(root, lookup);
    return lookup;
  }
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

interface FolderRequest {
  /** The conversation's recorded folder. */
  readonly recorded: string | undefined;
  /** A path, or `recorded`. */
  readonly asked: string | undefined;
  readonly callers: string;
}

interface WorkingFolder {
  readonly cwd: string;
  /** Names the folder that is used, if the recorded one and the caller's differ. */
  readonly notice?: string;
}

/**
 * Chooses the folder of a resumed or forked conversation, where its tools may write. A file must not choose it: the
 * recorded folder is used only if the caller asks for it.
 */
async function chooseWorkingFolder({ recorded, asked, callers }: FolderRequest): Promise<WorkingFolder> {
  const here = resolve(callers);
  if (asked !== undefined && asked !== "recorded") return { cwd: resolve(here, asked) };
  if (recorded !== undefined && (await isSame(recorded, here))) return { cwd: here };
  if (asked === "recorded") {
    const cwd = await existingFolder(recorded);
    return {
      cwd,
      notice: `This conversation continues in its recorded folder ${visible(cwd)}, not in ${visible(here)}.`,
    };
  }
  if (recorded === undefined) return { cwd: here };
  if (!(await isFolder(recorded))) {
    const notice = `The folder of this conversation does not exist or cannot be read: ${visible(recorded)}. It continues in ${visible(here)}.`;
    return { cwd: here, notice };
  }
  const notice = [
    `This conversation was in ${visible(recorded)}. It continues in ${visible(here)}, where its tools may write.`,
    'To continue in the recorded folder, pass --recorded-cwd (library: cwd: "recorded").',
  ].join("\n");
  return { cwd: here, notice };
}

async function existingFolder(recorded: string | undefined): Promise<string> {
  if (recorded !== undefined && (await isFolder(recorded))) return resolve(recorded);
  const problem =
    recorded === undefined
      ? "This conversation does not record a folder"
      : `The recorded folder of this conversation does not exist or cannot be read: ${visible(recorded)}`;
  throw new InvalidInputError(`${problem}. To continue in your own folder, leave out --recorded-cwd (library: cwd)`);
}

async function isFolder(path: string): Promise<boolean> {
  return isAbsolute(path) && (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function isSame(recorded: string, here: string): Promise<boolean> {
  if (!isAbsolute(recorded)) return false;
  if (resolve(recorded) === here) return true;
  const [one, other] = await Promise.all([recorded, here].map((path) => realpath(path).catch(() => undefined)));
  return one !== undefined && one === other;
}

function tornNotice(outcome: OpenOutcome): string | undefined {
  if (outcome.status !== "open" || outcome.torn === undefined) return undefined;
  const { bytes, keptAs } = outcome.torn;
  return `The last line was incomplete after a crash: its ${counted(bytes, "byte")} were moved to ${keptAs}`;
}

function skippedNotice(skipped: number): string | undefined {
  return skipped === 0 ? undefined : `${skipped} line(s) of an unknown type were skipped`;
}

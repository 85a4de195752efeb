import { v7 as uuidv7 } from "uuid";
import { findProjectRoot, readGitInfo } from "../../../config/project/project.js";
import type { ConversationConfig, ResumeConfig } from "../../../messages/conversation-config.js";
import { isConversationId, shownId } from "../../../messages/conversation-id.js";
import { conversationName } from "../../../messages/conversation-name.js";
import { ConversationInUseError, EmptyRolloutError, InvalidInputError } from "../../../base/errors.js";
import type { SaveOutcome } from "../../../messages/rollout-command.js";
import type { OwnLine, GitInfo } from "../../../messages/rollout-line.js";
import { firstLine } from "../../../rollouts/first-line.js";
import type { Rollout } from "../../rollout-writer/rollout.js";
import type { Conversation } from "../handle.js";
import { namedLine } from "../saved/rename-saved.js";
import { type Settings, turnContext } from "../state/settings.js";
import { apply, type ConversationState, emptyState } from "../state/state.js";
import { Transcript } from "../state/transcript.js";
import type { OpenedRollout, Store, StoredState } from "../store/store.js";
import type { NewConversation } from "./manager-options.js";
import { isPaginated, type Parent } from "./read-parent.js";
import { recordedConfig } from "./resolve-settings.js";
import { skippedNotice, tornNotice, workingFolder, type WorkingFolder } from "./resume-notices.js";
import { ConversationSpawner, type SpawnerParts, type SpawnInput } from "./spawner.js";

export function newConversationId(): string {
  return shownId(uuidv7());
}

/** What opening needs from the manager, which keeps the conversations that are open. */
export interface OpenerParts extends SpawnerParts {
  readonly store: Store;
  isLive(conversationId: string): boolean;
  isShutDown(): boolean;
}

const recordedOfNew =
  'cwd: "recorded" is only for resuming and forking. For a new conversation in a folder of that name, pass "./recorded"';

/** Brings a conversation to life: its settings, its rollout and lock, its state, its actor. */
export class ConversationOpener {
  readonly #parts: OpenerParts;
  readonly #spawner: ConversationSpawner;
  readonly #gitInfos = new GitInfos();

  constructor(parts: OpenerParts) {
    this.#parts = parts;
    this.#spawner = new ConversationSpawner(parts);
  }

  /** A new conversation, with what it has from the one it was forked from. */
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
      throw new InvalidInputError(`conversation ${conversationId} exists already`);
    }
    const name = config.name === undefined ? undefined : conversationName(config.name);
    if (parent === undefined && config.cwd === "recorded") throw new InvalidInputError(recordedOfNew);
    const working = parent === undefined ? undefined : await this.#workingFolder(recorded, config);
    const { settings, notice } = this.#spawner.settings(recorded, { ...config, ...(working && { cwd: working.cwd }) });
    const labels = { provider: settings.provider, model: settings.model };
    const [now, { cwd }] = [this.#now(), settings];
    const [{ outcome, notice: openNotice, ...opened }, git, prompt] = await Promise.all([
      this.#parts.store.open({ conversationId, mode: "create", ...labels, now, cwd, force: false }),
      this.#gitInfos.of(settings.cwd),
      this.#spawner.openPrompt(cwd),
    ]);
    refuseInUse(conversationId, outcome);
    const { rollout } = opened;
    const source = this.#parts.options.source ?? "non_interactive";
    const state = emptyState();
    const first = firstLine({ conversationId, now, cwd, ...labels, source, resumes, git, forkedFrom });
    const transcript = new Transcript();
    for (const line of [first, ...inherited, ...(name === undefined ? [] : [namedLine(name, now)])]) {
      apply(state, line);
      transcript.add(line);
      rollout.append(line);
    }
    // Inherited turns name who played them, not who goes on.
    if (isNewChoice(state, settings, config)) this.#remember(state, settings, rollout);
    // What could not even be opened was waited for already.
    const saved = outcome.status === "not_saved" ? outcome : await rollout.flush();
    const listed = saved.status === "saved" ? await this.#indexName(conversationId, state, "rename") : saved;
    const unlisted = saved.status === "saved" && listed.status === "not_saved" ? listed.reason : undefined;
    await this.#refuseOpened(rollout);
    const { lease, notice: serverNotice } = await this.#spawner.leaseServers(cwd);
    const conversation = await this.#spawner.spawn({
      conversationId,
      state,
      shown: transcript.messages(),
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: resumes === undefined ? source : { resume: resumes },
      goesOn: false,
      notice: joined([notice, openNotice, parentNotice, working?.notice, unlisted, serverNotice]),
      recordedCwd: recorded.cwd,
      ...this.#listing(conversationId, state),
    });
    return { conversation, conversationId, saved };
  }

  /** A saved one, in the same file; `codex_only` when nobody but Codex may write to that. */
  async resume(conversationId: string, config: ResumeConfig): Promise<Conversation | "codex_only"> {
    const { allowEmpty = false, force = false, ...changes } = config;
    // Looked up before the file is read, which may take long, and taken for good afterwards.
    const holder = force ? undefined : await this.#parts.store.holder(conversationId).catch(() => undefined);
    if (holder !== undefined) throw new ConversationInUseError(conversationId, holder);
    const before = await this.#parts.store.load(conversationId);
    if (isEmpty(before.state) && !allowEmpty) throw new EmptyRolloutError(conversationId);
    if (isPaginated(before.state) && this.#parts.config.persistence?.enabled !== false) return "codex_only";
    const recorded = recordedConfig(before.state);
    const working = await this.#workingFolder(recorded, changes);
    const { settings, notice } = this.#spawner.settings(recorded, { ...changes, cwd: working.cwd });
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
    const prompt = await this.#spawner.openPrompt(cwd);
    // Someone may have written between the reading and the lock.
    const moved = outcome.status === "open" && outcome.bytes !== 0 && outcome.bytes !== before.bytes;
    const { state, shown, skipped } = moved ? await this.#loadOrClose(conversationId, rollout) : before;
    if (state.meta === undefined) this.#begin(conversationId, state, settings, rollout);
    if (isNewChoice(state, settings, changes)) this.#remember(state, settings, rollout);
    await this.#indexName(conversationId, state, "mend");
    await this.#indexPin(conversationId, state, "mend");
    const { lease, notice: serverNotice } = await this.#spawner.leaseServers(cwd);
    const notices = [notice, openNotice, working.notice, tornNotice(outcome), skippedNotice(skipped), serverNotice];
    return await this.#spawner.spawn({
      conversationId,
      state,
      shown,
      settings,
      ...opened,
      prompt,
      lease,
      sessionSource: { resume: conversationId },
      goesOn: rollout.path !== null,
      notice: joined(notices),
      recordedCwd: recorded.cwd,
      ...this.#listing(conversationId, state),
    });
  }

  #workingFolder(recorded: ConversationConfig, asked: ConversationConfig): Promise<WorkingFolder> {
    return workingFolder({ recorded: recorded.cwd, asked: asked.cwd, callers: this.#spawner.cwd });
  }

  #listing(id: string, state: ConversationState): Pick<SpawnInput, "onRenamed" | "onPinned"> {
    return {
      onRenamed: () => this.#indexName(id, state, "rename"),
      onPinned: () => this.#indexPin(id, state, "pin"),
    };
  }

  async #indexName(id: string, { named }: ConversationState, mode: "rename" | "mend"): Promise<SaveOutcome> {
    return named === undefined ? { status: "saved" } : await this.#parts.store.indexName(id, named, mode);
  }

  async #indexPin(id: string, { pin }: ConversationState, mode: "pin" | "mend"): Promise<SaveOutcome> {
    return pin === undefined ? { status: "saved" } : await this.#parts.store.indexPin(id, pin, mode);
  }

  /** A file without its first line, left by a crash right after it was made, gets one. */
  #begin(conversationId: string, state: ConversationState, settings: Settings, rollout: Rollout): void {
    const { provider, model, cwd } = settings;
    const source = this.#parts.options.source ?? "non_interactive";
    const line = firstLine({ conversationId, now: this.#now(), cwd, provider, model, source });
    apply(state, line);
    rollout.append(line);
  }

  /** Who was chosen on resuming answers from then on, also for a process that comes before the next turn. */
  #remember(state: ConversationState, settings: Settings, rollout: Rollout): void {
    const timestamp = this.#now().toISOString();
    const line: OwnLine = { timestamp, type: "turn_context", payload: turnContext(settings) };
    apply(state, line);
    rollout.append(line);
  }

  /** A rollout that cannot be read must not stay locked. */
  async #loadOrClose(conversationId: string, rollout: Rollout): Promise<StoredState> {
    try {
      return await this.#parts.store.load(conversationId);
    } catch (error) {
      await rollout.close();
      throw error;
    }
  }

  /** Lets go of what conversations share; nothing may be playing any more. */
  async close(): Promise<void> {
    await this.#spawner.close();
  }

  /** For what was opened while the manager was shut down. */
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

function joined(notices: readonly (string | undefined)[]): string | undefined {
  return notices.filter((text) => text !== undefined).join("\n") || undefined;
}

const idRule = "1 to 128 letters, digits, _ and -, the first a letter or digit";

function refuseInUse(conversationId: string, outcome: OpenedRollout["outcome"]): void {
  if (outcome.status === "in_use") throw new ConversationInUseError(conversationId, outcome.owner);
}

/** What git knows of folders. Conversations that are opened together look at their folder once. */
class GitInfos {
  readonly #looking = new Map<string, Promise<GitInfo | undefined>>();

  of(cwd: string): Promise<GitInfo | undefined> {
    const known = this.#looking.get(cwd);
    if (known !== undefined) return known;
    const looking = findProjectRoot(cwd)
      .then(readGitInfo)
      .finally(() => this.#looking.delete(cwd));
    this.#looking.set(cwd, looking);
    return looking;
  }
}

/** Whether the caller asks for a provider, a model, an API or a policy that the rollout does not say already. */
function isNewChoice(state: ConversationState, settings: Settings, asked: ConversationConfig): boolean {
  const { provider, api, model, approvalPolicy, sandbox } = asked;
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

/** Nobody has said anything; a history that was cleared had something to clear. */
function isEmpty({ history, turns, isReplaced }: ConversationState): boolean {
  return history.length === 0 && turns === 0 && !isReplaced;
}

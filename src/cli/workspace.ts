import { realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import type { Conversation } from "../actors/conversation/handle.js";
import type { NewConversation } from "../actors/conversation/open/manager-options.js";
import type { PendingApproval } from "../actors/conversation/saved/pending-approvals.js";
import { resolveSettings } from "../actors/conversation/state/settings.js";
import type { ImportOptions, ImportOutcome } from "../actors/conversation/saved/import-conversation.js";
import { saveFailureReason } from "../actors/rollout-writer/save-failure.js";
import { InvalidInputError } from "../base/errors.js";
import type { BatchOptions } from "../batch/run-batch.js";
import type { BatchResult, BatchTask } from "../messages/batch.js";
import { estimateTokens } from "../compaction/tokens/estimate-tokens.js";
import type { ConfigFlags, LoadedConfig } from "../config/load-config.js";
import { activeDirectory, conversationPlaces, type ConversationPlaces } from "../config/paths.js";
import {
  type ActiveConversation,
  type ActiveKey,
  readActive,
  writeActive,
} from "../config/project/active-conversation.js";
import { ConversationManager } from "../manager.js";
import type { ConversationConfig, ForkConfig, ResumeConfig } from "../messages/settings/conversation-config.js";
import type { Settings } from "../messages/actors/conversation.js";
import type { SaveOutcome } from "../messages/actors/rollout-writer.js";
import type { ReviewDecision } from "../messages/tools/approval.js";
import type { RuleLists } from "../messages/tools/permissions.js";
import { builtInProviders } from "../providers/offline/provider.js";
import type { ExportFormat } from "../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../rollouts/formats/export/export-lines.js";
import { configFlags } from "./arguments/config-flags.js";
import type { SettingFlag } from "./arguments/flag-table.js";
import { CommandError, exitCodes, usageError } from "./command-error.js";
import type { CommandContext, SharedContext } from "./context.js";
import { compileRules } from "../tools/policy/rules.js";
import { codexPersistence } from "./conversations/conversation-places.js";
import { loadSettings } from "./load-settings.js";

type WorkspaceContext = SharedContext<SettingFlag | "addDir" | "allow" | "deny" | "codex" | "force" | "recordedCwd">;

/** The conversations of one project, as commands use them. The opener must dispose it. */
export class Workspace implements AsyncDisposable {
  readonly config: LoadedConfig["values"];
  readonly key: ActiveKey;
  readonly places: ConversationPlaces;
  readonly #context: WorkspaceContext;
  readonly #changes: ConversationConfig;
  readonly #manager: ConversationManager;

  constructor(context: WorkspaceContext, config: LoadedConfig["values"], key: ActiveKey, parts: WorkspaceParts) {
    this.config = config;
    this.key = key;
    const { home, codexHome } = context;
    const { codex = false } = context.flags;
    const persistence = { ...config.persistence, ...(codex ? codexPersistence(context) : {}) };
    this.places = codex ? conversationPlaces({ home, codexHome, persistence, listsOnlyDirectory: true }) : parts.places;
    this.#context = context;
    this.#changes = parts.changes;
    const { env, cwd, providers = [], tools = [] } = context.terminal;
    const writer = context.outbox === undefined ? {} : { outbox: context.outbox };
    this.#manager = new ConversationManager({
      home,
      config: { ...config, persistence, compaction: compactionOf(config, parts.source) },
      env,
      cwd,
      providers,
      tools,
      source: parts.source,
      log: (text) => context.log("info", text),
      rules: parts.rules,
      control: parts.control,
      ...writer,
    });
  }

  /**
   * The provider and model that a new conversation would use. Without a key, `chat` plans the offline model, and any
   * other command fails.
   */
  plan(command: "chat" | "other" = "chat"): { provider: string; model: string; notice: string | undefined } {
    const { settings, notice } = this.#resolve(command);
    return { provider: settings.provider, model: settings.model, notice };
  }

  /** The settings that a new conversation would have. */
  plannedSettings(): Settings {
    return this.#resolve("chat").settings;
  }

  #resolve(command: "chat" | "other") {
    const { terminal } = this.#context;
    return explained(() =>
      resolveSettings({
        config: this.config,
        conversation: this.#changes,
        env: terminal.env,
        inProcess: inProcessProviders(this.#context),
        cwd: terminal.cwd,
        command,
      }),
    );
  }

  async create(options: ConversationConfig = {}): Promise<NewConversation> {
    const { cwd } = this.#context.terminal;
    const config = { cwd, ...this.#changes, ...options };
    const created = await explainedAsync(this.#manager.newConversation(config));
    this.#context.about(created.conversationId);
    return created;
  }

  /** Resumes an existing conversation. One that only Codex may write is continued in a copy. */
  async resume({ id, path }: Target, options: Omit<ResumeConfig, "force">): Promise<Conversation> {
    this.#context.about(id);
    const { force = false } = this.#context.flags;
    const config = { ...this.#changes, ...this.#folder(), ...options, force };
    const resuming =
      path === undefined ? this.#manager.resumeConversation(id, config) : this.#manager.resumeRollout(path, config);
    const conversation = await explainedAsync(resuming);
    this.#context.about(conversation.id);
    return conversation;
  }

  async fork({ id, path }: Target, request: ForkRequest = {}): Promise<NewConversation> {
    const config = { ...this.#changes, ...this.#folder(), ...request };
    const forking =
      path === undefined ? this.#manager.forkConversation(id, config) : this.#manager.forkRollout(path, config);
    const forked = await explainedAsync(forking);
    this.#context.about(forked.conversationId);
    return forked;
  }

  async rename({ id, path }: Target, name: string): Promise<SaveOutcome> {
    this.#context.about(id);
    const { force = false } = this.#context.flags;
    return await explainedAsync(
      path === undefined
        ? this.#manager.renameConversation(id, name, { force })
        : this.#manager.renameRollout(path, name, { force }),
    );
  }

  async export({ id, path }: Target, format: ExportFormat): Promise<ExportedConversation> {
    return await explainedAsync(this.#manager.exportConversation(path ?? id, { format }));
  }

  /** The approval requests in the files of conversations. */
  async approvals(): Promise<PendingApproval[]> {
    return await this.#manager.listApprovals();
  }

  /** Records the answer to a request of a conversation that is not open; the next resume applies it. */
  async recordAnswer({ approvalId, conversationId }: PendingApproval, decision: ReviewDecision): Promise<void> {
    this.#context.about(conversationId);
    await this.#manager.answerApproval(approvalId, decision, { conversationId, resume: false });
  }

  runBatch(tasks: readonly BatchTask[], options: BatchOptions): AsyncGenerator<BatchResult> {
    const conversation = { cwd: this.#context.terminal.cwd, ...this.#changes };
    return this.#manager.runBatch(tasks, { ...options, conversation });
  }

  /** Imports the conversations in a file or a directory. */
  imports(path: string, options: ImportOptions): AsyncGenerator<ImportOutcome> {
    return this.#manager.importConversations(path, options);
  }

  async pin({ id }: Target, pinned: boolean): Promise<SaveOutcome> {
    this.#context.about(id);
    const { force = false } = this.#context.flags;
    return await explainedAsync(this.#manager.pinConversation(id, { pinned, force }));
  }

  async active(): Promise<ActiveConversation | undefined> {
    return await readActive(this.#context.home, this.key);
  }

  /**
   * Resolves with whether the conversation is active now. One that is not saved cannot become active, because it could
   * not be resumed. A pointer that cannot be written must not stop a conversation.
   */
  async makeActive({ id, rolloutPath }: Pick<Conversation, "id" | "rolloutPath">): Promise<boolean> {
    if ((await this.active())?.id === id) return true;
    if (!this.config.persistence.enabled) return false;
    const isFar = rolloutPath !== null && !rolloutPath.startsWith(this.key.directory + sep);
    try {
      await writeActive(this.#context.home, this.key, isFar ? { id, path: rolloutPath } : { id });
      return true;
    } catch (error) {
      this.#context.log("warn", `cannot save the active conversation: ${(error as Error).message}`);
      await this.#context.tell(`Cannot make ${id} the active conversation: ${saveFailureReason(error)}`);
      return false;
    }
  }

  #folder(): Pick<ConversationConfig, "cwd"> {
    return this.#context.flags.recordedCwd === true ? { cwd: "recorded" } : {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#manager.shutdown();
  }
}

type ForkRequest = Pick<ForkConfig, "name" | "afterTurn" | "withoutKey">;

interface WorkspaceParts {
  /** The configured directories. */
  readonly places: ConversationPlaces;
  readonly changes: ConversationConfig;
  /** The rules of --allow and --deny. */
  readonly rules: RuleLists;
  readonly source: "interactive" | "non_interactive";
  /** Whether other processes may see its conversations. */
  readonly control: "cli" | false;
}

export async function openWorkspace(
  context: WorkspaceContext,
  { source = "non_interactive", control = false }: Partial<Pick<WorkspaceParts, "source" | "control">> = {},
): Promise<Workspace> {
  const { root: projectRoot } = await context.projectRoots();
  const { values: loaded, places } = await loadSettings(context);
  const values = withFolders(loaded, await addedFolders(context));
  const changes = changesOf(configFlags(context));
  const rules = ruleFlags(context, projectRoot);
  return new Workspace(
    context,
    values,
    { projectRoot, directory: activeDirectory(places) },
    { places, changes, rules, source, control },
  );
}

/** The real paths of the folders of --add-dir. One that does not exist would silently stay unwritable. */
async function addedFolders({ flags, terminal }: WorkspaceContext): Promise<string[]> {
  return await Promise.all(
    (flags.addDir ?? []).map(async (folder) => {
      const path = await realpath(resolve(terminal.cwd, folder)).catch(() => undefined);
      if (path !== undefined && (await stat(path)).isDirectory()) return path;
      throw usageError(`--add-dir ${folder}: there is no such folder`, "Create it first, or name an existing one");
    }),
  );
}

/** The settings of this run, in which tools may also write in these folders. */
function withFolders(values: LoadedConfig["values"], folders: readonly string[]): LoadedConfig["values"] {
  if (folders.length === 0) return values;
  const writableRoots = [...(values.sandbox?.writableRoots ?? []), ...folders];
  return { ...values, sandbox: { ...values.sandbox, writableRoots } };
}

/** A mistyped rule is an error at once; later it would make everything need approval. */
function ruleFlags({ flags, terminal }: WorkspaceContext, root: string): RuleLists {
  const rules = { allow: [...(flags.allow ?? [])], deny: [...(flags.deny ?? [])] };
  try {
    compileRules(rules, { source: "--allow or --deny", root, userHome: terminal.homedir });
    return rules;
  } catch (error) {
    throw error instanceof InvalidInputError ? usageError(error.message) : error;
  }
}

/** For read-only commands: they write nothing, so they need no lock. */
export function readOnlyContext<Context extends CommandContext>(context: Context): Context & NotSaving {
  return { ...context, outbox: undefined, flags: { ...context.flags, noPersistence: true } };
}

type NotSaving = Pick<SharedContext<"noPersistence">, "flags">;

/** A person at a prompt should not wait for a summary; a command has nothing else to do meanwhile. */
function compactionOf(
  { compaction }: LoadedConfig["values"],
  source: WorkspaceParts["source"],
): NonNullable<LoadedConfig["values"]["compaction"]> {
  return source === "interactive" ? { mode: "background", ...compaction } : { ...compaction };
}

/** The names of the providers that will run inside the manager's process. */
export function inProcessProviders({ terminal }: CommandContext): ReadonlySet<string> {
  const builtIn = builtInProviders({ countTokens: estimateTokens });
  return new Set([...builtIn, ...(terminal.providers ?? [])].map(({ name }) => name));
}

/** The settings given as flags that a conversation may override; all others are the manager's. */
function changesOf({ provider, api, model, baseUrl, approvalPolicy, sandbox }: ConfigFlags): ConversationConfig {
  const changes = { provider, api, model, baseUrl, approvalPolicy, sandbox: sandbox?.mode };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** Ids and settings were checked before, so what the manager still rejects is a provider without a key. */
function explain(error: unknown): unknown {
  return error instanceof InvalidInputError ? new CommandError(error.message, exitCodes.failed) : error;
}

function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explain(error);
  }
}

async function explainedAsync<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw explain(error);
  }
}

/** An existing conversation. */
export interface Target {
  readonly id: string;
  /** Its file, if it cannot be found by its id. */
  readonly path?: string;
}

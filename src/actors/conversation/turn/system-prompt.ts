import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { SharedWork } from "../../../base/time/shared-work.js";
import { withinRounds } from "../../../base/time/waiting.js";
import type { Homes } from "../../../config/paths.js";
import type { ProjectFinder } from "../../../config/project/project.js";
import { effectiveGroup } from "../../../config/settings/effective-settings.js";
import {
  findInstructions,
  type FoundInstructions,
  type InstructionPlace,
  type ReadInstructions,
  readInstructions,
  buildInstructions,
} from "../../../context/instructions.js";
import type { KnowledgeAnswers, KnowledgeOp, KnowledgeSection } from "../../../messages/actors/knowledge.js";
import type { Config } from "../../../messages/settings/config.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { SaveKnowledge, Tool } from "../../../tools/tool.js";
import { ProjectKnowledge } from "../../knowledge/knowledge.js";
import type { Ref } from "../../runtime/actor.js";
import { messageOf } from "../../runtime/failures.js";

/** A disk that does not respond must not block the start of a turn. */
const readTimeoutMs = 3_000;

const timeoutNotice = "Reading the instruction files timed out: the model gets their earlier text";

/** Maximum number of cached working folders; the least recently used are dropped first. */
const maxFolders = 256;
/** Maximum number of folders searched from the working folder up to the project root. */
const maxDepth = 64;

/** A system prompt, with notices for the user. */
interface SystemPrompt {
  readonly cwd: string;
  readonly text: string;
  readonly notices: readonly string[];
}

interface ContextParts {
  readonly homes: Homes;
  readonly projects: ProjectFinder;
  readonly knowledge: Ref<KnowledgeOp, KnowledgeAnswers>;
  readonly now: () => Date;
}

/** The instructions and knowledge that files of the user and of projects add to a manager's conversations. */
export class ProjectContext {
  /** Absent when knowledge is not saved. */
  readonly #knowledge: ProjectKnowledge | undefined;
  readonly #prompts: SystemPrompts;

  constructor(config: Config, { homes, projects, knowledge, now }: ContextParts) {
    const { enabled, injectionBudget } = effectiveGroup(config, "knowledge");
    this.#knowledge = enabled ? new ProjectKnowledge(knowledge, { budgetTokens: injectionBudget }) : undefined;
    this.#prompts = new SystemPrompts({
      homes: [homes.home, homes.codexHome].filter((folder) => folder !== undefined),
      projects,
      config,
      knowledge: this.#knowledge,
      now,
    });
  }

  /** Tools that are not offered, because they would have no effect. */
  get idleTools(): readonly Tool[] {
    return this.#knowledge === undefined ? [addKnowledge] : [];
  }

  /** Returns the system prompt of a conversation, with its files already read. The user has seen `shownNotices`. */
  async openPrompt(cwd: string, shownNotices: readonly string[] = []): Promise<ConversationPrompt> {
    const prompt = new ConversationPrompt(this.#prompts, shownNotices);
    await prompt.read(cwd);
    return prompt;
  }

  saveKnowledge(cwd: string, conversationId: string): SaveKnowledge | undefined {
    const knowledge = this.#knowledge;
    return knowledge === undefined ? undefined : (entry) => knowledge.add(cwd, entry, conversationId);
  }
}

/** The system prompt of one conversation, as of the beginning of the turn. */
export class ConversationPrompt {
  readonly #prompts: Pick<SystemPrompts, "current" | "bare">;
  #prompt: SystemPrompt | undefined;
  /** The notices already shown, which are not repeated. */
  #shownNotices: readonly string[];

  constructor(prompts: Pick<SystemPrompts, "current" | "bare">, shownNotices: readonly string[] = []) {
    this.#prompts = prompts;
    this.#shownNotices = shownNotices;
  }

  get shownNotices(): readonly string[] {
    return this.#shownNotices;
  }

  text(cwd: string): string {
    return (this.#prompt?.cwd === cwd ? this.#prompt : this.#prompts.bare(cwd)).text;
  }

  /** Reads the instruction files again; returns the current notices. */
  async read(cwd: string, signal?: AbortSignal): Promise<readonly string[]> {
    let failure: string | undefined;
    const lookup = this.#prompts.current(cwd).then(
      (prompt) => (this.#prompt = prompt),
      (error: unknown) => (failure = `Cannot read the instruction files: ${messageOf(error)}`),
    );
    const isInTime = await withinRounds(lookup, readTimeoutMs, signal);
    if (failure !== undefined) return [failure];
    if (isInTime) return this.#prompt?.notices ?? [];
    return signal?.aborted === true ? this.#shownNotices : [timeoutNotice];
  }

  /** Reads the files again for a new turn; returns the notices that the user has not seen yet. */
  async refresh(cwd: string, signal: AbortSignal): Promise<readonly string[]> {
    const notices = await this.read(cwd, signal);
    const unseen = notices.filter((notice) => !this.#shownNotices.includes(notice));
    this.#shownNotices = notices;
    return unseen;
  }
}

interface SystemPromptParts {
  /** The user's home folders, cody's own first; the first with instructions is used. */
  readonly homes: readonly string[];
  readonly projects: ProjectFinder;
  readonly config: Pick<Config, "systemPrompt" | "instructions">;
  /** Absent when knowledge is switched off. */
  readonly knowledge: ProjectKnowledge | undefined;
  now(): Date;
}

interface Folder {
  readonly build: SharedWork<SystemPrompt>;
  built: { readonly key: string; readonly prompt: SystemPrompt } | undefined;
}

/** The system prompts of all conversations: one text per folder, rebuilt only when a file has changed. */
class SystemPrompts {
  readonly #parts: SystemPromptParts;
  readonly #folders = new Map<string, Folder>();

  constructor(parts: SystemPromptParts) {
    this.#parts = parts;
  }

  /** Returns the prompt from the current files; problems with them are reported as notices. */
  current(cwd: string): Promise<SystemPrompt> {
    const folder = this.#folders.get(cwd) ?? this.#opened(cwd);
    this.#folders.delete(cwd);
    this.#folders.set(cwd, folder);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > maxFolders && oldest !== undefined) this.#folders.delete(oldest);
    return folder.build.ask();
  }

  /** Returns the prompt without the contents of files. */
  bare(cwd: string): SystemPrompt {
    const knowledge = this.#parts.knowledge === undefined ? undefined : { section: "" };
    return { cwd, text: this.#text(cwd, { blocks: [], notices: [] }, knowledge), notices: [] };
  }

  #opened(cwd: string): Folder {
    const folder: Folder = { build: new SharedWork(() => this.#build(cwd, folder)), built: undefined };
    return folder;
  }

  async #build(cwd: string, folder: Folder): Promise<SystemPrompt> {
    const root = this.#parts.projects.find(cwd).then((project) => project.root);
    const [personal, project, knowledge] = await Promise.all([
      this.#personal(),
      projectPlaces(root, cwd).then(findInstructions),
      this.#knowledge(root),
    ]);
    const stamps = [...personal, ...project].map(({ stamp }) => stamp);
    const key = [this.#day(), knowledge?.version ?? "", ...stamps].join("\n");
    if (folder.built?.key === key) return folder.built.prompt;
    // Each has its own size limit, so that a project's instructions do not displace the user's.
    const [personalFiles, projectFiles] = await Promise.all([readInstructions(personal), readInstructions(project)]);
    const files = {
      blocks: [...personalFiles.blocks, ...projectFiles.blocks],
      notices: [...personalFiles.notices, ...projectFiles.notices],
    };
    const notices = [...(knowledge?.problems ?? []), ...files.notices];
    const prompt = { cwd, text: this.#text(cwd, files, knowledge), notices };
    folder.built = { key, prompt };
    return prompt;
  }

  async #personal(): Promise<FoundInstructions[]> {
    const found = await Promise.all(this.#parts.homes.map((folder) => findInstructions([{ folder }])));
    return found.find((files) => files.length > 0) ?? [];
  }

  async #knowledge(root: Promise<string>): Promise<KnowledgeSection | undefined> {
    try {
      return await this.#parts.knowledge?.section(await root);
    } catch (error) {
      const problem = `Cannot read the project's knowledge: ${messageOf(error)}`;
      return { section: "", problems: [problem], version: problem };
    }
  }

  #text(cwd: string, { blocks }: ReadInstructions, knowledge: { readonly section: string } | undefined): string {
    const { systemPrompt, instructions = [] } = this.#parts.config;
    return buildInstructions({
      cwd,
      platform: process.platform,
      date: this.#parts.now(),
      base: systemPrompt,
      knowledge,
      files: blocks,
      extra: typeof instructions === "string" ? [instructions] : instructions,
    });
  }

  #day(): string {
    return this.#parts.now().toISOString().slice(0, "YYYY-MM-DD".length);
  }
}

/** Returns the folders from the project root down to the working folder; none when that no longer exists. */
async function projectPlaces(projectRoot: Promise<string>, cwd: string): Promise<InstructionPlace[]> {
  const last = await realpath(cwd).catch(() => undefined);
  // If the path contains no symbolic links, neither does its prefix.
  const root = last === resolve(cwd) ? await projectRoot : await realpath(await projectRoot).catch(() => undefined);
  if (root === undefined || last === undefined) return [];
  const places: InstructionPlace[] = [];
  for (let folder = last; places.length < maxDepth; folder = dirname(folder)) {
    places.unshift({ folder, root });
    if (folder === root || folder === dirname(folder)) break;
  }
  return places;
}

import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ProjectFinder } from "../../../config/project/project-roots.js";
import {
  findInstructions,
  type FoundInstructions,
  type InstructionPlace,
  type ReadInstructions,
  readInstructions,
} from "../../../context/instruction-files.js";
import { buildInstructions } from "../../../context/instructions.js";
import type { Config } from "../../../messages/config.js";
import type { KnowledgeSection } from "../../knowledge/knowledge.js";
import type { ProjectKnowledge } from "../../knowledge/project-knowledge.js";
import { messageOf } from "../../runtime/failures.js";
import { SharedWork } from "../../../base/time/shared-work.js";

/** A system prompt, with notices for the user. */
export interface SystemPrompt {
  readonly cwd: string;
  readonly text: string;
  readonly notices: readonly string[];
}

export interface SystemPromptParts {
  /** The user's home folders, cody's own first; the first with instructions is used. */
  readonly homes: readonly string[];
  readonly projects: ProjectFinder;
  readonly config: Pick<Config, "systemPrompt" | "instructions">;
  /** Absent when knowledge is switched off. */
  readonly knowledge: ProjectKnowledge | undefined;
  now(): Date;
}

/** Maximum number of cached working folders; the least recently used are dropped first. */
const maxFolders = 256;
/** Maximum number of folders searched from the working folder up to the project root. */
const maxDepth = 64;

interface Folder {
  readonly looking: SharedWork<SystemPrompt>;
  made: { readonly key: string; readonly prompt: SystemPrompt } | undefined;
}

/** The system prompts of all conversations: one text per folder, rebuilt only when a file has changed. */
export class SystemPrompts {
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
    return folder.looking.ask();
  }

  /** Returns the prompt without the contents of files. */
  bare(cwd: string): SystemPrompt {
    const knowledge = this.#parts.knowledge === undefined ? undefined : { section: "" };
    return { cwd, text: this.#text(cwd, { blocks: [], notices: [] }, knowledge), notices: [] };
  }

  #opened(cwd: string): Folder {
    const folder: Folder = { looking: new SharedWork(() => this.#look(cwd, folder)), made: undefined };
    return folder;
  }

  async #look(cwd: string, folder: Folder): Promise<SystemPrompt> {
    const root = this.#parts.projects.find(cwd).then((project) => project.root);
    const [personal, project, knowledge] = await Promise.all([
      this.#personal(),
      projectPlaces(root, cwd).then(findInstructions),
      this.#knowledge(root),
    ]);
    const stamps = [...personal, ...project].map(({ stamp }) => stamp);
    const key = [this.#day(), knowledge?.version ?? "", ...stamps].join("\n");
    if (folder.made?.key === key) return folder.made.prompt;
    // Each has its own size limit, so that a project's instructions do not displace the user's.
    const [own, theirs] = await Promise.all([readInstructions(personal), readInstructions(project)]);
    const files = { blocks: [...own.blocks, ...theirs.blocks], notices: [...own.notices, ...theirs.notices] };
    const notices = [...(knowledge?.problems ?? []), ...files.notices];
    const prompt = { cwd, text: this.#text(cwd, files, knowledge), notices };
    folder.made = { key, prompt };
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

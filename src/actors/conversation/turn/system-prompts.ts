import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { findProjectRoot } from "../../../config/project/project.js";
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

/** What a model is told before the history, and what a person should know about it. */
export interface SystemPrompt {
  readonly cwd: string;
  readonly text: string;
  readonly notices: readonly string[];
}

export interface SystemPromptParts {
  /** The folders of the user, cody's own first: the first of them that has instructions counts. */
  readonly homes: readonly string[];
  readonly config: Pick<Config, "systemPrompt" | "instructions">;
  /** Absent when it is switched off. */
  readonly knowledge: ProjectKnowledge | undefined;
  now(): Date;
}

/** How many working folders are kept in mind; those asked for longest ago are forgotten first. */
const maxFolders = 256;
/** Nobody works deeper than this below the root of a project. */
const maxDepth = 64;

interface Folder {
  readonly looking: SharedWork<SystemPrompt>;
  made: { readonly key: string; readonly prompt: SystemPrompt } | undefined;
}

/** The system prompts of all conversations: of those in one folder one text, made anew only when a file has changed. */
export class SystemPrompts {
  readonly #parts: SystemPromptParts;
  readonly #folders = new Map<string, Folder>();

  constructor(parts: SystemPromptParts) {
    this.#parts = parts;
  }

  /** As the files say it now; whatever is wrong with them, there is a prompt. */
  current(cwd: string): Promise<SystemPrompt> {
    const folder = this.#folders.get(cwd) ?? this.#opened(cwd);
    this.#folders.delete(cwd);
    this.#folders.set(cwd, folder);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > maxFolders && oldest !== undefined) this.#folders.delete(oldest);
    return folder.looking.ask();
  }

  /** Without what files say. */
  bare(cwd: string): SystemPrompt {
    const knowledge = this.#parts.knowledge === undefined ? undefined : { section: "" };
    return { cwd, text: this.#text(cwd, { blocks: [], notices: [] }, knowledge), notices: [] };
  }

  #opened(cwd: string): Folder {
    const folder: Folder = { looking: new SharedWork(() => this.#look(cwd, folder)), made: undefined };
    return folder;
  }

  async #look(cwd: string, folder: Folder): Promise<SystemPrompt> {
    const root = findProjectRoot(cwd);
    const [personal, project, knowledge] = await Promise.all([
      this.#personal(),
      projectPlaces(root, cwd).then(findInstructions),
      this.#knowledge(root),
    ]);
    const stamps = [...personal, ...project].map(({ stamp }) => stamp);
    const key = [this.#day(), knowledge?.version ?? "", ...stamps].join("\n");
    if (folder.made?.key === key) return folder.made.prompt;
    // Each has its own bound: what a project says must not take the room of what its user says.
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
      const problem = `What is known of the project could not be read: ${messageOf(error)}`;
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

/** The folders from the root of a project down to where the work is done; none when that is gone. */
async function projectPlaces(projectRoot: Promise<string>, cwd: string): Promise<InstructionPlace[]> {
  const last = await realpath(cwd).catch(() => undefined);
  // A path without links has none in its beginning either.
  const root = last === resolve(cwd) ? await projectRoot : await realpath(await projectRoot).catch(() => undefined);
  if (root === undefined || last === undefined) return [];
  const places: InstructionPlace[] = [];
  for (let folder = last; places.length < maxDepth; folder = dirname(folder)) {
    places.unshift({ folder, root });
    if (folder === root || folder === dirname(folder)) break;
  }
  return places;
}

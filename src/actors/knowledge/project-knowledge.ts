import { findProjectRoot } from "../../config/project.js";
import { FailureError } from "../../messages/errors.js";
import type { NewKnowledge } from "../../messages/knowledge.js";
import type { Ref } from "../system/actor.js";
import { spawn } from "../system/spawn.js";
import {
  type AddOutcome,
  knowledge,
  type KnowledgeAnswers,
  type KnowledgeOp,
  type KnowledgeSection,
} from "./knowledge.js";
import type { ProjectStoreParts } from "./project-store.js";

/** How many projects are kept in mind; those asked for longest ago are let go of first. */
const maxProjects = 64;

export interface ProjectKnowledgeParts extends Pick<ProjectStoreParts, "redactor" | "now"> {
  readonly budgetTokens: number;
}

/** The knowledge of every project that conversations of one manager are in: one actor for each. */
export class ProjectKnowledge {
  readonly #parts: ProjectKnowledgeParts;
  readonly #actors = new Map<string, Ref<KnowledgeOp, KnowledgeAnswers>>();

  constructor(parts: ProjectKnowledgeParts) {
    this.#parts = parts;
  }

  /** What a model in this project is told. */
  async section(root: string): Promise<KnowledgeSection> {
    return await this.#actor(root).ask({ type: "section", budgetTokens: this.#parts.budgetTokens });
  }

  /** Saves something in the project a folder belongs to. */
  async add(cwd: string, said: NewKnowledge, sessionId: string): Promise<AddOutcome> {
    const root = await findProjectRoot(cwd);
    try {
      return await this.#actor(root).ask({ type: "add", said, sessionId });
    } catch (error) {
      if (error instanceof FailureError) return { status: "not_saved", reason: error.message };
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#actors.values()].map((actor) => actor.stop()));
  }

  #actor(root: string): Ref<KnowledgeOp, KnowledgeAnswers> {
    const { redactor, now } = this.#parts;
    const actor = this.#actors.get(root) ?? spawn(knowledge, { root, redactor, now });
    this.#actors.delete(root);
    this.#actors.set(root, actor);
    const [oldest] = this.#actors.keys();
    // Not stopped: somebody may be waiting for its answer. It holds nothing but what it has read.
    if (this.#actors.size > maxProjects && oldest !== undefined) this.#actors.delete(oldest);
    return actor;
  }
}

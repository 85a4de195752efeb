import { findProjectRoot } from "../../config/project/project.js";
import type { NewKnowledge } from "../../messages/knowledge.js";
import type { Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import {
  type AddOutcome,
  knowledge,
  type KnowledgeAnswers,
  type KnowledgeOp,
  type KnowledgeSection,
} from "./knowledge.js";
import type { ProjectStoreParts } from "./project-store.js";
import { FailureError } from "../../messages/failure.js";

/** How many projects are kept in mind; of those with nothing to do, the one asked for longest ago is let go of first. */
const maxProjects = 64;

export interface ProjectKnowledgeParts extends Pick<ProjectStoreParts, "redactor" | "now"> {
  readonly budgetTokens: number;
}

interface Owner {
  readonly actor: Ref<KnowledgeOp, KnowledgeAnswers>;
  /** How many wait for its answer. */
  asking: number;
}

/** The knowledge of every project that conversations of one manager are in: one actor for each. */
export class ProjectKnowledge {
  readonly #parts: ProjectKnowledgeParts;
  /** By the folder of their project, the one asked for longest ago first. */
  readonly #owners = new Map<string, Owner>();

  constructor(parts: ProjectKnowledgeParts) {
    this.#parts = parts;
  }

  /** What a model in this project is told. */
  async section(root: string): Promise<KnowledgeSection> {
    return await this.#with(root, (actor) => actor.ask({ type: "section", budgetTokens: this.#parts.budgetTokens }));
  }

  /** Saves something in the project a folder belongs to. */
  async add(cwd: string, said: NewKnowledge, sessionId: string): Promise<AddOutcome> {
    const root = await findProjectRoot(cwd);
    try {
      return await this.#with(root, (actor) => actor.ask({ type: "add", said, sessionId }));
    } catch (error) {
      if (error instanceof FailureError) return { status: "not_saved", reason: error.message };
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#owners.values()].map(({ actor }) => actor.stop()));
  }

  async #with<T>(root: string, ask: (actor: Owner["actor"]) => Promise<T>): Promise<T> {
    const owner = this.#ownerOf(root);
    owner.asking += 1;
    try {
      return await ask(owner.actor);
    } finally {
      owner.asking -= 1;
      this.#letGo();
    }
  }

  #ownerOf(root: string): Owner {
    const { redactor, now } = this.#parts;
    const owner = this.#owners.get(root) ?? { actor: spawn(knowledge, { root, redactor, now }), asking: 0 };
    this.#owners.delete(root);
    this.#owners.set(root, owner);
    return owner;
  }

  /** One that has something to do stays: a second owner of its project would not know of what it is about to write. */
  #letGo(): void {
    for (const [root, { actor, asking }] of this.#owners) {
      if (this.#owners.size <= maxProjects) return;
      if (asking > 0) continue;
      this.#owners.delete(root);
      void actor.stop();
    }
  }
}

import { findProjectRoot } from "../../config/project/project.js";
import type { NewKnowledge } from "../../messages/tools/knowledge.js";
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
import { FailureError } from "../../messages/failure-error.js";

/** Maximum number of projects kept in memory; beyond it, the least recently used idle ones are dropped. */
const maxProjects = 64;

export interface ProjectKnowledgeParts extends Pick<ProjectStoreParts, "redactor" | "now"> {
  readonly budgetTokens: number;
}

interface Owner {
  readonly actor: Ref<KnowledgeOp, KnowledgeAnswers>;
  /** Number of calls that wait for its answer. */
  asking: number;
}

/** The knowledge of every project that a manager's conversations belong to, with one actor per project. */
export class ProjectKnowledge {
  readonly #parts: ProjectKnowledgeParts;
  /** Keyed by project folder, the least recently used first. */
  readonly #owners = new Map<string, Owner>();

  constructor(parts: ProjectKnowledgeParts) {
    this.#parts = parts;
  }

  /** Returns the knowledge section of the prompt for this project. */
  async section(root: string): Promise<KnowledgeSection> {
    return await this.#with(root, (actor) => actor.ask({ type: "section", budgetTokens: this.#parts.budgetTokens }));
  }

  /** Saves an entry in the project that a folder belongs to. */
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

  /** A busy owner stays: a second owner of its project would not know about its pending writes. */
  #letGo(): void {
    for (const [root, { actor, asking }] of this.#owners) {
      if (this.#owners.size <= maxProjects) return;
      if (asking > 0) continue;
      this.#owners.delete(root);
      void actor.stop();
    }
  }
}

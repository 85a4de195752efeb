import { findProjectRoot } from "../../config/project/project.js";
import { buildKnowledgeSection } from "../../context/knowledge.js";
import { FailureError } from "../../messages/failure-error.js";
import type { KnowledgeEntry, NewKnowledge } from "../../messages/tools/knowledge.js";
import { failureText } from "../../tools/files/file-problem.js";
import type { Actor, Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import { KnowledgeIndex, ProjectStore, type ProjectStoreParts } from "./project-store.js";
import type { ReadKnowledge } from "./knowledge-file.js";

/** Maximum number of projects kept in memory; beyond it, the least recently used idle ones are dropped. */
const maxProjects = 64;

type KnowledgeOp =
  | { readonly type: "section"; readonly budgetTokens: number }
  | { readonly type: "add"; readonly said: NewKnowledge; readonly sessionId: string };

/** The knowledge section of the prompt; `version` changes when the section does. */
export interface KnowledgeSection {
  readonly section: string;
  readonly problems: readonly string[];
  readonly version: string;
}

type AddOutcome =
  | { readonly status: "saved"; readonly entry: KnowledgeEntry }
  | { readonly status: "not_saved"; readonly reason: string };

interface KnowledgeAnswers {
  readonly section: KnowledgeSection;
  readonly add: AddOutcome;
}

interface Waiting {
  readonly op: Extract<KnowledgeOp, { type: "add" }>;
  readonly answer: (outcome: AddOutcome) => void;
  readonly fail: (error: unknown) => void;
}

/** Owns the knowledge of one project for all its conversations; the file is read again only when it has changed. */
const knowledge: Actor<KnowledgeOp, KnowledgeAnswers, ProjectStoreParts> = {
  name: "knowledge",
  start: (parts) => {
    const store = new ProjectStore(parts);
    let known: { readonly stamp: string; readonly read: ReadKnowledge } | undefined;
    let cached: KnowledgeSection | undefined;
    let waiting: Waiting[] = [];
    let writing: Promise<void> | undefined;

    async function current(): Promise<{ stamp: string; read: ReadKnowledge }> {
      const stamp = await store.stamp();
      if (known?.stamp !== stamp) known = { stamp, read: await store.read() };
      return known;
    }

    async function section(budgetTokens: number): Promise<KnowledgeSection> {
      const { stamp, read } = await current();
      // The date is part of the version, because entries dated in the future are ordered by the current time.
      const version = `${stamp} ${budgetTokens} ${parts.now().toISOString().slice(0, "YYYY-MM-DD".length)}`;
      if (cached?.version === version) return cached;
      const text = buildKnowledgeSection(read.entries, budgetTokens, parts.now());
      cached = { section: text, problems: read.problems, version };
      return cached;
    }

    /** Many conversations may save at once, so pending entries are written together. */
    async function write(): Promise<void> {
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        await writeAll(batch);
      }
    }

    async function writeAll(batch: readonly Waiting[]): Promise<void> {
      try {
        const { read } = await current();
        const all = new KnowledgeIndex(read.entries);
        const outcomes = batch.map(({ op }) => {
          const outcome = entryOf(op, all);
          if (outcome.status === "saved") all.add(outcome.entry);
          return outcome;
        });
        await store.append(outcomes.flatMap((outcome) => (outcome.status === "saved" ? [outcome.entry] : [])));
        for (const [index, outcome] of outcomes.entries()) batch[index]?.answer(outcome);
      } catch (error) {
        for (const each of batch) settleFailed(each, error);
      }
    }

    function entryOf({ said, sessionId }: Waiting["op"], all: KnowledgeIndex): AddOutcome {
      try {
        return { status: "saved", entry: store.entryOf(said, all, { source: "model", sessionId }) };
      } catch (error) {
        return { status: "not_saved", reason: notSavedReason(error) };
      }
    }

    return {
      section: ({ budgetTokens }) => section(budgetTokens),
      add: (op) =>
        new Promise((answer, fail) => {
          waiting.push({ op, answer, fail });
          writing ??= write().finally(() => (writing = undefined));
        }),
      [Symbol.asyncDispose]: async () => writing,
    };
  },
};

/** A disk error is an answer; a bug in our code ends the incarnation. */
function settleFailed({ answer, fail }: Waiting, error: unknown): void {
  try {
    answer({ status: "not_saved", reason: notSavedReason(error) });
  } catch {
    fail(error);
  }
}

function notSavedReason(error: unknown): string {
  return error instanceof FailureError ? error.message : failureText(error);
}

interface ProjectKnowledgeParts extends Pick<ProjectStoreParts, "redactor" | "now"> {
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
    return await this.#withOwner(root, (actor) =>
      actor.ask({ type: "section", budgetTokens: this.#parts.budgetTokens }),
    );
  }

  /** Saves an entry in the project that a folder belongs to. */
  async add(cwd: string, entry: NewKnowledge, sessionId: string): Promise<AddOutcome> {
    const root = await findProjectRoot(cwd);
    try {
      return await this.#withOwner(root, (actor) => actor.ask({ type: "add", said: entry, sessionId }));
    } catch (error) {
      if (error instanceof FailureError) return { status: "not_saved", reason: error.message };
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#owners.values()].map(({ actor }) => actor.stop()));
  }

  async #withOwner<T>(root: string, ask: (actor: Owner["actor"]) => Promise<T>): Promise<T> {
    const owner = this.#ownerOf(root);
    owner.asking += 1;
    try {
      return await ask(owner.actor);
    } finally {
      owner.asking -= 1;
      this.#stopIdle();
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
  #stopIdle(): void {
    for (const [root, { actor, asking }] of this.#owners) {
      if (this.#owners.size <= maxProjects) return;
      if (asking > 0) continue;
      this.#owners.delete(root);
      void actor.stop();
    }
  }
}

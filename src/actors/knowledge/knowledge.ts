import { findProjectRoot } from "../../config/project/project.js";
import { buildKnowledgeSection } from "../../context/knowledge.js";
import type { AddOutcome, KnowledgeAnswers, KnowledgeOp, KnowledgeSection } from "../../messages/actors/knowledge.js";
import { FailureError } from "../../messages/failure-error.js";
import type { NewKnowledge } from "../../messages/tools/knowledge.js";
import { failureText } from "../../tools/files/file-problem.js";
import type { Actor, Ref } from "../runtime/actor.js";
import { spawn } from "../runtime/spawn.js";
import { KnowledgeIndex, ProjectStore, type ProjectStoreParts } from "./project-store.js";
import type { ReadKnowledge } from "./knowledge-file.js";

/** Maximum number of projects kept in memory; beyond it, the least recently used idle ones are dropped. */
const maxProjects = 64;

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
      cached = { section: text, problems: [...read.problems], version };
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

    function entryOf({ entry, conversationId }: Waiting["op"], all: KnowledgeIndex): AddOutcome {
      try {
        return { status: "saved", entry: store.entryOf(entry, all, { source: "model", sessionId: conversationId }) };
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

interface Owner {
  readonly actor: Ref<KnowledgeOp, KnowledgeAnswers>;
  /** Number of calls that wait for its answer. */
  asking: number;
}

/**
 * Returns one reference for the knowledge of all projects. Each project has an actor of its own, which starts with the
 * first message about it.
 */
export function startKnowledge(parts: Omit<ProjectStoreParts, "root">): Ref<KnowledgeOp, KnowledgeAnswers> {
  /** Keyed by project folder, the least recently used first. */
  const owners = new Map<string, Owner>();

  async function withOwner<T>(root: string, send: (actor: Owner["actor"]) => Promise<T>): Promise<T> {
    const owner = ownerOf(root);
    owner.asking += 1;
    try {
      return await send(owner.actor);
    } finally {
      owner.asking -= 1;
      stopIdle();
    }
  }

  function ownerOf(root: string): Owner {
    const owner = owners.get(root) ?? { actor: spawn(knowledge, { ...parts, root }), asking: 0 };
    owners.delete(root);
    owners.set(root, owner);
    return owner;
  }

  /** A busy owner stays: a second owner of its project would not know about its pending writes. */
  function stopIdle(): void {
    for (const [root, { actor, asking }] of owners) {
      if (owners.size <= maxProjects) return;
      if (asking > 0) continue;
      owners.delete(root);
      void actor.stop();
    }
  }

  return {
    tell: (op) => withOwner(op.root, (actor) => actor.tell(op)),
    ask: (op, signal) => withOwner(op.root, (actor) => actor.ask(op, signal)),
    stop: async () => {
      await Promise.all([...owners.values()].map(({ actor }) => actor.stop()));
    },
  };
}

/** Reads and adds knowledge, for the conversations of a thread. */
export class ProjectKnowledge {
  readonly #ref: Ref<KnowledgeOp, KnowledgeAnswers>;
  readonly #budgetTokens: number;

  constructor(ref: Ref<KnowledgeOp, KnowledgeAnswers>, { budgetTokens }: { readonly budgetTokens: number }) {
    this.#ref = ref;
    this.#budgetTokens = budgetTokens;
  }

  /** Returns the knowledge section of the prompt for this project. */
  async section(root: string): Promise<KnowledgeSection> {
    return await this.#ref.ask({ type: "section", root, budgetTokens: this.#budgetTokens });
  }

  /** Saves an entry in the project that a folder belongs to. */
  async add(cwd: string, entry: NewKnowledge, conversationId: string): Promise<AddOutcome> {
    const root = await findProjectRoot(cwd);
    try {
      return await this.#ref.ask({ type: "add", root, entry, conversationId });
    } catch (error) {
      if (error instanceof FailureError) return { status: "not_saved", reason: error.message };
      throw error;
    }
  }
}

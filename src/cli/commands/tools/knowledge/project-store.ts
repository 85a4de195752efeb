import { ProjectStore } from "../../../../actors/knowledge/project-store.js";
import { redactionRules } from "../../../../config/secrets/rules.js";
import { createTextRedactor } from "../../../../config/secrets/text-redactor.js";
import type { KnowledgeEntry } from "../../../../messages/tools/knowledge.js";
import { failureText } from "../../../../tools/failure-words.js";
import { CommandError, exitCodes } from "../../../command-error.js";
import type { CommandContext } from "../../../context.js";
import { loadSettings } from "../../../load-settings.js";
import { currentTime } from "../../../terminal/now.js";
import { FailureError } from "../../../../messages/failure-error.js";

/** The knowledge store of the current project. */
export async function openProjectStore(context: CommandContext): Promise<ProjectStore> {
  const { terminal } = context;
  const { root } = await context.projectRoots();
  const { values } = await loadSettings(context);
  const redactor = createTextRedactor(redactionRules(values, terminal.env));
  return new ProjectStore({ root, redactor, now: () => new Date(currentTime(context)) });
}

/** Reads all entries, and reports problems with their file. */
export async function readEntries(context: CommandContext, store: ProjectStore): Promise<readonly KnowledgeEntry[]> {
  const { entries, problems } = await store.read();
  for (const problem of problems) await context.tell(problem);
  return entries;
}

/** Turns a write error into a command error with the exit code for unsaved data. */
export async function saveOrExplain<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = error instanceof FailureError ? error.message : failureText(error);
    throw new CommandError(`Cannot change the knowledge: ${reason}`, exitCodes.notSaved);
  }
}

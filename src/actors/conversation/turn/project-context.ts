import type { Homes } from "../../../config/paths.js";
import type { ProjectFinder } from "../../../config/project/project-roots.js";
import { effectiveGroup } from "../../../config/settings/effective-settings.js";
import type { Config } from "../../../messages/config.js";
import type { TextRedactor } from "../../../base/text/redaction.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { SaveKnowledge, Tool } from "../../../tools/tool.js";
import { ProjectKnowledge } from "../../knowledge/project-knowledge.js";
import { SystemPrompts } from "./system-prompts.js";
import { ConversationPrompt } from "./conversation-prompt.js";

export interface ContextParts {
  readonly homes: Homes;
  readonly projects: ProjectFinder;
  readonly redactor: TextRedactor;
  readonly now: () => Date;
}

/** The instructions and knowledge that files of the user and of projects add to a manager's conversations. */
export class ProjectContext {
  /** Absent when knowledge is not saved. */
  readonly #knowledge: ProjectKnowledge | undefined;
  readonly #prompts: SystemPrompts;

  constructor(config: Config, { homes, projects, redactor, now }: ContextParts) {
    const { enabled, injectionBudget } = effectiveGroup(config, "knowledge");
    this.#knowledge = enabled ? new ProjectKnowledge({ redactor, budgetTokens: injectionBudget, now }) : undefined;
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

  /** Returns the system prompt of a new conversation, with its files already read. */
  async openPrompt(cwd: string): Promise<ConversationPrompt> {
    const prompt = new ConversationPrompt(this.#prompts);
    await prompt.look(cwd);
    return prompt;
  }

  saveKnowledge(cwd: string, conversationId: string): SaveKnowledge | undefined {
    const knowledge = this.#knowledge;
    return knowledge === undefined ? undefined : (said) => knowledge.add(cwd, said, conversationId);
  }

  async close(): Promise<void> {
    await this.#knowledge?.close();
  }
}

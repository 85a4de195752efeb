import { homedir } from "node:os";
import { codexHome, codyHome } from "../../../config/paths.js";
import { defaultInjectionBudget } from "../../../context/knowledge-section.js";
import type { Config } from "../../../messages/config.js";
import type { TextRedactor } from "../../../messages/redaction.js";
import { addKnowledge } from "../../../tools/add-knowledge.js";
import type { SaveKnowledge, Tool } from "../../../tools/tool.js";
import { ProjectKnowledge } from "../../knowledge/project-knowledge.js";
import type { ManagerOptions } from "../open/manager-options.js";
import { SystemPrompts } from "./system-prompts.js";
import { ToldPrompt } from "./conversation-prompt.js";

export interface ContextParts {
  readonly redactor: TextRedactor;
  readonly now: () => Date;
}

/** What the files of a user and of projects add to the conversations of a manager: instructions and knowledge. */
export class ProjectContext {
  /** Absent when nothing is to be remembered. */
  readonly #knowledge: ProjectKnowledge | undefined;
  readonly #prompts: SystemPrompts;

  constructor({ home, env = {} }: ManagerOptions, config: Config, { redactor, now }: ContextParts) {
    const { enabled = true, injectionBudget = defaultInjectionBudget } = config.knowledge ?? {};
    this.#knowledge = enabled ? new ProjectKnowledge({ redactor, budgetTokens: injectionBudget, now }) : undefined;
    const homes = [home ?? codyHome({ env, homedir: homedir() }), codexHome({ env, homedir })];
    this.#prompts = new SystemPrompts({
      homes: homes.filter((folder) => folder !== undefined),
      config,
      knowledge: this.#knowledge,
      now,
    });
  }

  /** Tools there is no use for. */
  get idleTools(): readonly Tool[] {
    return this.#knowledge === undefined ? [addKnowledge] : [];
  }

  /** What the model of a new conversation will be told, already looked up. */
  async openPrompt(cwd: string): Promise<ToldPrompt> {
    const prompt = new ToldPrompt(this.#prompts);
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

import { homedir } from "node:os";
import { codexHome, codyHome } from "../../config/paths.js";
import { redactionRules } from "../../config/redaction/rules.js";
import { createTextRedactor } from "../../config/redaction/text-redactor.js";
import { defaultInjectionBudget } from "../../context/knowledge-section.js";
import type { Config } from "../../messages/config.js";
import { addKnowledge } from "../../tools/add-knowledge.js";
import type { SaveKnowledge, Tool } from "../../tools/tool.js";
import { ProjectKnowledge } from "../knowledge/project-knowledge.js";
import type { ManagerOptions } from "./manager-options.js";
import { SystemPrompts } from "./system-prompts.js";
import { ToldPrompt } from "./told-prompt.js";

/** What the files of a user and of projects add to the conversations of a manager: instructions and knowledge. */
export class ProjectContext {
  /** Absent when nothing is to be remembered. */
  readonly #knowledge: ProjectKnowledge | undefined;
  readonly #prompts: SystemPrompts;

  constructor({ home, env = {} }: ManagerOptions, config: Config, now: () => Date) {
    const { enabled = true, injectionBudget = defaultInjectionBudget } = config.knowledge ?? {};
    const redactor = createTextRedactor(redactionRules(config, env));
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

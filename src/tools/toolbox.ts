import { errorMessage } from "../base/error-message.js";
import { InvalidInputError } from "../base/errors.js";
import { check } from "../base/parse.js";
import { ToolSpec } from "../messages/tools/tool.js";
import { addKnowledge } from "./add-knowledge.js";
import { applyPatch } from "./apply-patch.js";
import { listFiles } from "./list-files.js";
import { readFile } from "./read-file.js";
import { recall } from "./recall.js";
import { searchFiles } from "./search-files.js";
import { shell } from "./shell.js";
import { toolSpec } from "./define-tool.js";
import type { Tool } from "./tool.js";
import { updatePlan } from "./update-plan.js";
import { viewImage } from "./view-image.js";
import { writeFile } from "./write-file.js";

/** The tools of a manager: the built-in ones, and added ones, which replace those of the same name. */
export class Toolbox {
  readonly byName: ReadonlyMap<string, Tool>;
  #specs: readonly ToolSpec[] | undefined;

  /** `without` are built-in tools to leave out. */
  constructor(added: readonly Tool[], without: readonly Tool[] = []) {
    for (const tool of added) checkSpec(tool);
    const twice = added.find(({ name }, index) => added.findIndex((other) => other.name === name) < index);
    if (twice !== undefined) throw new InvalidInputError(`tool ${twice.name}: there are two tools with this name`);
    const builtIn = builtInTools().filter((tool) => !without.includes(tool));
    this.byName = new Map([...builtIn, ...added].map((tool) => [tool.name, tool]));
  }

  /** Computed on the first request to a model: most commands make none. */
  get specs(): readonly ToolSpec[] {
    this.#specs ??= [...this.byName.values()].map(toolSpec);
    return this.#specs;
  }
}

/** Checks a tool when it is added, rather than in the middle of a turn. */
function checkSpec(tool: Tool): void {
  try {
    const { parameters } = check(ToolSpec, toolSpec(tool), `tool ${tool.name}`);
    if (parameters["type"] !== "object") throw new Error("models only accept an object");
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    const reason = errorMessage(error);
    throw new InvalidInputError(`tool ${tool.name}: its parameters cannot be sent to a model: ${reason}`);
  }
}

/** The tools that every conversation has. */
export function builtInTools(): readonly Tool[] {
  return [shell, readFile, listFiles, searchFiles, viewImage, writeFile, applyPatch, updatePlan, recall, addKnowledge];
}

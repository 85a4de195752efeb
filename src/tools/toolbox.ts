import type { ToolSpec } from "../messages/tool.js";
import { builtInTools } from "./built-in.js";
import type { Tool } from "./tool.js";
import { toolSpec } from "./tool-spec.js";

/** The tools of a manager: the built-in ones, with others added or in their place. */
export class Toolbox {
  readonly byName: ReadonlyMap<string, Tool>;
  #specs: readonly ToolSpec[] | undefined;

  constructor(added: readonly Tool[]) {
    this.byName = new Map([...builtInTools(), ...added].map((tool) => [tool.name, tool]));
  }

  /** Made when a model is first asked: most commands never ask one. */
  get specs(): readonly ToolSpec[] {
    this.#specs ??= [...this.byName.values()].map(toolSpec);
    return this.#specs;
  }
}

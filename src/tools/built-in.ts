import { shell } from "./shell.js";
import type { Tool } from "./tool.js";

/** The tools every conversation has. */
export function builtInTools(): readonly Tool[] {
  return [shell];
}

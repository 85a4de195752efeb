import type { Tool } from "./tool.js";

export function builtInTools(): readonly Tool[] {
  return [];
}

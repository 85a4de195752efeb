import { addKnowledge } from "./add-knowledge.js";
import { readFile } from "./read-file.js";
import { recall } from "./recall.js";
import { shell } from "./shell.js";
import type { Tool } from "./tool.js";
import { writeFile } from "./write-file.js";

/** The tools every conversation has. */
export function builtInTools(): readonly Tool[] {
  return [shell, readFile, writeFile, recall, addKnowledge];
}

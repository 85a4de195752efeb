import { applyPatch } from "./apply-patch.js";
import { listFiles } from "./list-files.js";
import { addKnowledge } from "./add-knowledge.js";
import { readFile } from "./read-file.js";
import { recall } from "./recall.js";
import { searchFiles } from "./search-files.js";
import { shell } from "./shell.js";
import type { Tool } from "./tool.js";
import { updatePlan } from "./update-plan.js";
import { viewImage } from "./view-image.js";
import { writeFile } from "./write-file.js";

/** The tools every conversation has. */
export function builtInTools(): readonly Tool[] {
  return [shell, readFile, listFiles, searchFiles, viewImage, writeFile, applyPatch, updatePlan, recall, addKnowledge];
}

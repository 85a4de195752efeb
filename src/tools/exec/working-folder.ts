import { realpath, stat } from "node:fs/promises";
import { failureText } from "../failure-words.js";
import { targetChanged } from "../files/file-problem.js";
import type { ToolScope } from "../tool.js";

/**
 * Explains why nothing can be run in a folder. Checked before the start, because for a missing folder the system's
 * error blames the program.
 */
export async function workingFolderProblem(folder: string, { cwd }: ToolScope): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return `cannot run in ${folder}: it is not a folder`;
    // Only the conversation's own folder may be used under the name it was given; any other was approved by its real
    // path.
    const isMoved = folder !== cwd && (await realpath(folder)) !== folder;
    return isMoved ? `cannot run in ${folder}: ${targetChanged}` : undefined;
  } catch (error) {
    return `cannot run in ${folder}: ${failureText(error)}`;
  }
}

import { realpath, stat } from "node:fs/promises";
import { failureWords } from "../failure-words.js";
import { leadsElsewhere } from "../files/file-problem.js";
import type { ToolScope } from "../tool.js";

/** Why nothing can be run in a folder. Asked first: the system blames the program for a folder that is not there. */
export async function workingFolderProblem(folder: string, { cwd }: ToolScope): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return `cannot run in ${folder}: it is not a folder`;
    // Only the conversation's own folder goes by the name it was given; any other was asked about by its real one.
    const isMoved = folder !== cwd && (await realpath(folder)) !== folder;
    return isMoved ? `cannot run in ${folder}: ${leadsElsewhere}` : undefined;
  } catch (error) {
    return `cannot run in ${folder}: ${failureWords(error)}`;
  }
}

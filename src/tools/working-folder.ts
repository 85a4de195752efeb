import { stat } from "node:fs/promises";
import { failureWords } from "./failure-words.js";

/** Why nothing can be run in a folder. Asked first: the system blames the program for a folder that is not there. */
export async function workingFolderProblem(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : `cannot run in ${folder}: it is not a folder`;
  } catch (error) {
    return `cannot run in ${folder}: ${failureWords(error)}`;
  }
}

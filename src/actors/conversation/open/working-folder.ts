import { realpath, stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { InvalidInputError } from "../../../base/errors.js";
import { visible } from "../../../base/text/visible.js";

interface FolderRequest {
  /** The conversation's recorded folder. */
  readonly recorded: string | undefined;
  /** A path, or `recorded`. */
  readonly asked: string | undefined;
  readonly callers: string;
}

export interface WorkingFolder {
  readonly cwd: string;
  /** Names the folder that is used, if the recorded one and the caller's differ. */
  readonly notice?: string;
}

/**
 * Chooses the folder of a resumed or forked conversation, where its tools may write. A file must not choose it: the
 * recorded folder is used only if the caller asks for it.
 */
export async function chooseWorkingFolder({ recorded, asked, callers }: FolderRequest): Promise<WorkingFolder> {
  const here = resolve(callers);
  if (asked !== undefined && asked !== "recorded") return { cwd: resolve(here, asked) };
  if (recorded !== undefined && (await isSame(recorded, here))) return { cwd: here };
  if (asked === "recorded") {
    const cwd = await existingFolder(recorded);
    return {
      cwd,
      notice: `This conversation continues in its recorded folder ${visible(cwd)}, not in ${visible(here)}.`,
    };
  }
  if (recorded === undefined) return { cwd: here };
  if (!(await isFolder(recorded))) {
    const notice = `The folder of this conversation does not exist or cannot be read: ${visible(recorded)}. It continues in ${visible(here)}.`;
    return { cwd: here, notice };
  }
  const notice = [
    `This conversation was in ${visible(recorded)}. It continues in ${visible(here)}, where its tools may write.`,
    'To continue in the recorded folder, pass --recorded-cwd (library: cwd: "recorded").',
  ].join("\n");
  return { cwd: here, notice };
}

async function existingFolder(recorded: string | undefined): Promise<string> {
  if (recorded !== undefined && (await isFolder(recorded))) return resolve(recorded);
  const problem =
    recorded === undefined
      ? "This conversation does not record a folder"
      : `The recorded folder of this conversation does not exist or cannot be read: ${visible(recorded)}`;
  throw new InvalidInputError(`${problem}. To continue in your own folder, leave out --recorded-cwd (library: cwd)`);
}

async function isFolder(path: string): Promise<boolean> {
  return isAbsolute(path) && (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function isSame(recorded: string, here: string): Promise<boolean> {
  if (!isAbsolute(recorded)) return false;
  if (resolve(recorded) === here) return true;
  const [one, other] = await Promise.all([recorded, here].map((path) => realpath(path).catch(() => undefined)));
  return one !== undefined && one === other;
}

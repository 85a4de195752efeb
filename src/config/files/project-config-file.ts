import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";
import { type ConfigFile, readConfigFile } from "./config-file.js";
import { configNames } from "../settings/config-names.js";
import { readTrust, realProjectRoot, type TrustLevel } from "../project/trust.js";

/** The configuration a project has of its own, in `.cody`; nobody has said that it may be used unless it is trusted. */
export interface ProjectConfigFile {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** Undefined when there is none. */
  readonly file: ConfigFile | undefined;
  /** Why it cannot be read. */
  readonly problem: string | undefined;
}

/** Parsed before anybody trusts it: a long one could take minutes. */
const maxBytes = 32 * 1024;

export async function readProjectConfigFile(home: string, cwd: string): Promise<ProjectConfigFile> {
  const root = await realProjectRoot(cwd);
  const folder = join(root, ".cody");
  const none = { root, trust: undefined, file: undefined, problem: undefined };
  // One look is all that a project without a configuration costs.
  const isFolder = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder || (await isSame(folder, home))) return none;
  const trust = (await readTrust(home)).get(root);
  try {
    await refuseUnusual(folder);
    return { ...none, trust, file: await readConfigFile(folder) };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...none, trust, problem: `${folder}: ${error.message}` };
  }
}

/** A pipe would never end, and a link leads where the project's owner likes. */
async function refuseUnusual(folder: string): Promise<void> {
  await Promise.all(
    configNames.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      if (found === undefined || (found.isFile() && found.size <= maxBytes)) return;
      throw new InvalidInputError(`${name} is no file, or too long for a configuration`);
    }),
  );
}

/** Whoever works in the folder above cody's home has no second configuration there. */
async function isSame(folder: string, home: string): Promise<boolean> {
  const [one, other] = await Promise.all([folder, home].map((path) => realpath(path).catch(() => path)));
  return one === other;
}

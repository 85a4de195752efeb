import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";
import { type ConfigFile, readConfigFile } from "./config-file.js";
import { configNames } from "../settings/config-names.js";
import { readTrust, type TrustLevel } from "../project/trust.js";

/** A project's own configuration in `.cody`. It must not be used unless the user has trusted the project. */
export interface ProjectConfigFile {
  readonly root: string;
  readonly trust: TrustLevel | undefined;
  /** Undefined if the project has none. */
  readonly file: ConfigFile | undefined;
  /** The reason why it cannot be read. */
  readonly problem: string | undefined;
}

/** The file is parsed before the user has trusted the project, and parsing a long one could take minutes. */
const maxBytes = 32 * 1024;

/** Reads the configuration of the project at a root, which must be a real path. */
export async function readProjectConfigFile(home: string, root: string): Promise<ProjectConfigFile> {
  const folder = join(root, ".cody");
  const none = { root, trust: undefined, file: undefined, problem: undefined };
  // This single `lstat` is the only cost for a project without a configuration.
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

/** Reading a pipe could block forever, and a link may point outside the project. */
async function refuseUnusual(folder: string): Promise<void> {
  await Promise.all(
    configNames.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      if (found === undefined || (found.isFile() && found.size <= maxBytes)) return;
      throw new InvalidInputError(`${name} is not a file, or is too large for a configuration`);
    }),
  );
}

/** In the folder above cody's home, `.cody` is the home itself and not a project configuration. */
async function isSame(folder: string, home: string): Promise<boolean> {
  const [one, other] = await Promise.all([folder, home].map((path) => realpath(path).catch(() => path)));
  return one === other;
}

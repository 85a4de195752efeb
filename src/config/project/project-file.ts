import { createHash } from "node:crypto";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "../../base/errors.js";
import { isRecord } from "../../base/is-record.js";
import { type ConfigFile, configValue, readConfigFile } from "../files/config-file.js";
import { ownShape } from "../files/written-config.js";
import { configNames } from "../settings/config-names.js";

/** The file is parsed before the user has trusted the project, and parsing a long one could take minutes. */
const maxBytes = 32 * 1024;

/** The settings that start programs. */
export const commandSettings = ["hooks", "mcp_servers"] as const;

/** A project's own configuration in `.cody`. It must not be used unless the user has trusted the project. */
export interface ProjectFile {
  /** Undefined if the project has none. */
  readonly file: ConfigFile | undefined;
  /** The reason why it cannot be read. */
  readonly problem: string | undefined;
}

const none: ProjectFile = { file: undefined, problem: undefined };

/** Reads the configuration of the project at a root, which must be a real path. */
export async function readProjectFile(home: string, root: string): Promise<ProjectFile> {
  const folder = join(root, ".cody");
  // This single `lstat` is the only cost for a project without a configuration.
  const isFolder = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder || (await isSame(folder, home))) return none;
  try {
    await refuseUnusual(folder);
    return { ...none, file: await readConfigFile(folder) };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ...none, problem: `${folder}: ${error.message}` };
  }
}

/** Identifies the hooks and MCP servers in a configuration, however they are written; undefined if it has none. */
export async function commandsDigest(file: ConfigFile | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const value = ownShape(await configValue(file));
  const commands = commandSettings.flatMap((name) => {
    const written = isRecord(value) ? value[name] : undefined;
    return written === undefined || isEmpty(written) ? [] : [[name, written] as const];
  });
  if (commands.length === 0) return undefined;
  return createHash("sha256")
    .update(JSON.stringify(sorted(commands)))
    .digest("base64");
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Replaces objects by lists of their entries in the order of their keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  return { entries: entries.toSorted(([one], [other]) => (one < other ? -1 : 1)) };
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

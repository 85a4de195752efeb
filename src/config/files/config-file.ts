import { stat } from "node:fs/promises";
import { join } from "node:path";
import type * as z from "zod";
import type { Config } from "../../messages/settings/config.js";
import { InvalidInputError } from "../../base/errors.js";
import { NotRegularError, readRegular, TooLargeError } from "../../base/fs/open-regular.js";
import { issueWords } from "../../base/issue-words.js";
import { quotedWord } from "../../base/text/quoted-command.js";
import { systemReason } from "../../base/system-error.js";
import { ownShape } from "./written-config.js";
import { configFormats } from "./config-format.js";
import { type ConfigName, configNames } from "../settings/config-names.js";

/** Far larger than a real configuration, in which a prompt is the longest value. */
const maxConfigBytes = 8 * 1024 * 1024;

export interface ConfigFile {
  readonly name: ConfigName;
  readonly path: string;
  readonly text: string;
}

/**
 * Reads the configuration in a home; undefined if there is none. Throws if there are two, since their precedence would
 * be ambiguous.
 */
export async function readConfigFile(home: string): Promise<ConfigFile | undefined> {
  // Read in parallel: probing the names one by one would slow down every start.
  const found = await Promise.all(configNames.map((name) => readOne(home, name)));
  const [file, other] = found.filter((each) => each !== undefined);
  if (file === undefined || other === undefined) return file;
  throw new InvalidInputError(`${file.name} and ${other.name} are both in ${home}. Keep only one of them`);
}

async function readOne(home: string, name: ConfigName): Promise<ConfigFile | undefined> {
  const path = join(home, name);
  try {
    const bytes = await readRegular(path, { links: "follow", maxBytes: maxConfigBytes });
    return { name, path, text: bytes.toString() };
  } catch (error) {
    if (error instanceof NotRegularError) {
      const problem =
        error.stats?.isDirectory() === true ? "expected a file, but it is a folder" : "it is not a regular file";
      throw new InvalidInputError(`${name}: ${problem}: ${path}`);
    }
    if (error instanceof TooLargeError) {
      throw new InvalidInputError(`${name}: the file is too large for a configuration: ${path}`);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES" || code === "EPERM") {
      throw new InvalidInputError(`${name}: permission denied. Run: chmod u+r ${quotedWord(path)}`);
    }
    throw new InvalidInputError(
      `${name}: cannot read the file: ${systemReason(error)}. Check its type and permissions`,
    );
  }
}

/** Returns the path of the existing configuration, or of the one that would be created. */
export async function configPath(home: string): Promise<string> {
  return (await readConfigFile(home))?.path ?? join(home, defaultName);
}

/** The name of a configuration that cody creates. */
export const defaultName = "config.json" satisfies ConfigName;

export async function isReadableByOthers(path: string): Promise<boolean> {
  return await stat(path).then(
    ({ mode }) => (mode & 0o044) !== 0,
    () => false,
  );
}

interface ParsedConfig {
  readonly config: Config;
  /** One sentence for each unknown key. */
  readonly warnings: readonly string[];
}

/** Unknown keys are ignored with a warning: a typo, or a setting from a newer version, must not stop a conversation. */
export async function parseConfig(file: ConfigFile, shownName: string = file.name): Promise<ParsedConfig> {
  const { Config } = await import("../../messages/settings/config.js");
  const { known, unknown } = await withoutUnknownKeys(ownShape(await configValue(file, shownName)));
  const result = Config.safeParse(known, { error: issueWords });
  if (!result.success) {
    throw new InvalidInputError(`${shownName}: ${problemOf(result.error)}. ${correctionOf(file)}`);
  }
  if (unknown.length === 0) return { config: result.data, warnings: [] };
  const { nearestSetting } = await import("../settings/nearest-setting.js");
  const warnings = unknown.map((key) => {
    const near = nearestSetting(key);
    return `${shownName}: unknown key ${key} is ignored.${near === undefined ? "" : ` Did you mean ${near}?`}`;
  });
  return { config: result.data, warnings };
}

/** Loads the schema lazily: most runs have no configuration and should not pay for it. */
export async function withoutUnknownKeys(value: unknown): Promise<{ known: unknown; unknown: readonly string[] }> {
  const { Config } = await import("../../messages/settings/config.js");
  const { error } = Config.safeParse(value);
  const unknown = error?.issues.flatMap(unknownKeysIn) ?? [];
  const known: unknown = unknown.length === 0 ? value : structuredClone(value);
  for (const path of unknown) {
    const table: unknown = path.slice(0, -1).reduce<unknown>((outer, key) => Object(outer)[key] as unknown, known);
    Reflect.deleteProperty(Object(table) as object, path.at(-1) ?? "");
  }
  return { known, unknown: unknown.map((path) => path.map(String).join(".")) };
}

function unknownKeysIn(issue: z.core.$ZodIssue): PropertyKey[][] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...issue.path, key]);
  if (issue.code !== "invalid_union") return [];
  // Only if exactly one alternative matches apart from its unknown keys.
  const [fits = [], other] = issue.errors.filter((issues) => issues.every(({ code }) => code === "unrecognized_keys"));
  return other === undefined ? fits.flatMap(unknownKeysIn).map((path) => [...issue.path, ...path]) : [];
}

/** Keeps the top-level settings that are valid on their own from a configuration that does not parse. */
export async function salvageConfig(file: ConfigFile): Promise<Config> {
  const { Config } = await import("../../messages/settings/config.js");
  try {
    const entries = Object.entries(Object(ownShape(await configValue(file))));
    return Config.parse(
      Object.fromEntries(entries.filter(([key, value]) => Config.safeParse({ [key]: value }).success)),
    );
  } catch {
    return {};
  }
}

/** Parses the file's text without validating it against the schema. */
export async function configValue(file: ConfigFile, shownName: string = file.name): Promise<unknown> {
  try {
    return (await configFormats[file.name].parse(file.text, shownName)) ?? {};
  } catch (error) {
    throw new InvalidInputError(`${(error as Error).message}. ${correctionOf(file)}`);
  }
}

/** Describes the first problem as a key and the expected value. Never shows the actual value, which may be a secret. */
function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "invalid";
  const path = issue.path.map(String);
  return [...(path.length > 0 ? [path.join(".")] : []), expectationOf(issue)].join(": ");
}

function correctionOf({ path }: ConfigFile): string {
  return `Fix it in ${path}`;
}

function expectationOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `expected ${issue.expected}`;
  if (issue.code === "invalid_value") return `expected one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  return issue.message;
}

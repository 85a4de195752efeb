import { readFile, stat } from "node:fs/promises";
import type * as z from "zod";
import type { Config } from "../messages/config.js";
import { InvalidInputError } from "../messages/errors.js";
import { jsonValue } from "../messages/parse.js";
import { ownShape } from "../messages/written-config.js";

const role = "config.json";
const advice = "Edit it or run: cody set-provider";

/** The text of the configuration; undefined when there is none. */
export async function readConfigText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new InvalidInputError(`${role}: cannot be read (${code ?? "unknown"}). Check what it is and who may read it`);
  }
}

export async function isReadableByOthers(path: string): Promise<boolean> {
  return await stat(path).then(
    ({ mode }) => (mode & 0o044) !== 0,
    () => false,
  );
}

/** The schema is loaded only here: most runs have no configuration and should not wait for it. */
export async function parseConfig(text: string): Promise<Config> {
  const { Config } = await import("../messages/config.js");
  const result = Config.safeParse(ownShape(jsonOf(text)));
  if (result.success) return result.data;
  throw new InvalidInputError(`${role}: ${problemOf(result.error)}. ${advice}`);
}

/** What can be kept of a configuration that does not parse: the settings that are right by themselves. */
export async function salvageConfig(text: string): Promise<Config> {
  const { Config } = await import("../messages/config.js");
  try {
    const entries = Object.entries(Object(ownShape(jsonOf(text))));
    return Config.parse(
      Object.fromEntries(entries.filter(([key, value]) => Config.safeParse({ [key]: value }).success)),
    );
  } catch {
    return {};
  }
}

function jsonOf(text: string): unknown {
  try {
    return jsonValue(text.replace(/^\uFEFF/, ""), role);
  } catch (error) {
    throw new InvalidInputError(`${(error as Error).message}. ${advice}`);
  }
}

/** The first problem as a key and what was expected there; values are never shown. */
function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "invalid";
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return `${[...path, issue.keys[0]].join(".")}: unknown key`;
  return [...(path.length > 0 ? [path.join(".")] : []), expectationOf(issue)].join(": ");
}

function expectationOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `expected ${issue.expected}`;
  if (issue.code === "invalid_value") return `expected one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  return issue.message;
}

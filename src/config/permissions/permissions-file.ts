import { lstat, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type * as JsoncParser from "jsonc-parser";
import { InvalidInputError } from "../../base/errors.js";
import { makeDirectory } from "../../base/fs/make-directory.js";
import { readRegular } from "../../base/fs/open-regular.js";
import { writeAtomic } from "../../base/fs/write-atomic.js";
import { isRecord } from "../../base/is-record.js";
import { check } from "../../base/parse.js";
import { systemReason } from "../../base/system-error.js";
import { PermissionsFile, type RuleDecision, RuleLists, type WrittenRule } from "../../messages/tools/permissions.js";
import { jsonProblem } from "../files/json-problem.js";
import { withFileLock } from "../file-lock.js";
import { homePaths } from "../paths.js";

const maxBytes = 4 * 1024 * 1024;

/** Read before anything of the project can be allowed, and for display before the user trusts it. */
const maxProjectBytes = 64 * 1024;

/** A project's own rules, relative to its root. */
export const projectRulesFile = ".cody/permissions.json";

/** Rules as they are written in the home, or the reason why they cannot be used. */
export type ReadRules<T> = { readonly ok: true; readonly rules: T } | { readonly ok: false; readonly problem: string };

/** Reads the user's rules; those of a home without the file are empty. */
export async function readPermissions(home: string): Promise<ReadRules<PermissionsFile>> {
  return await readRules(homePaths(home).permissions, "follow", maxBytes, (value) =>
    check(PermissionsFile, value, "permissions.json"),
  );
}

/** Reads the rules of the project at a root. They must not be used unless the user trusts it. */
export async function readProjectPermissions(root: string): Promise<ReadRules<RuleLists>> {
  const path = join(root, projectRulesFile);
  return await readRules(path, "refuse", maxProjectBytes, (value) => check(RuleLists, value, projectRulesFile));
}

async function readRules<T>(
  path: string,
  links: "follow" | "refuse",
  limit: number,
  parse: (value: unknown) => T,
): Promise<ReadRules<T>> {
  let text: string;
  try {
    text = (await readRegular(path, { links, maxBytes: limit })).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { ok: true, rules: parse({}) };
    return { ok: false, problem: `${path}: ${systemReason(error)}` };
  }
  try {
    return { ok: true, rules: parse(await jsonOf(text)) };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { ok: false, problem: `${path}: ${error.message}` };
  }
}

async function jsonOf(text: string): Promise<unknown> {
  const parser = await import("jsonc-parser");
  const errors: JsoncParser.ParseError[] = [];
  const value: unknown = parser.parse(text, errors, { allowTrailingComma: true });
  const problem = jsonProblem(parser, text, errors);
  if (problem !== undefined) throw new InvalidInputError(problem);
  return value;
}

/** Identifies the current state of both files, so that they are read again only when one has changed. */
export async function permissionStamp(home: string, root: string): Promise<string> {
  const stamps = await Promise.all([
    stat(homePaths(home).permissions, { bigint: true }).catch(() => undefined),
    lstat(join(root, projectRulesFile), { bigint: true }).catch(() => undefined),
    stat(homePaths(home).trust, { bigint: true }).catch(() => undefined),
  ]);
  return stamps.map((each) => (each === undefined ? "" : `${each.ino} ${each.size} ${each.mtimeNs}`)).join("|");
}

interface RulePlace {
  readonly decision: RuleDecision;
  /** The real path of a project's root; undefined for the rules of all projects. */
  readonly project: string | undefined;
}

/** Adds a rule unless it is there already; comments in the file stay. Returns whether it was added. */
export async function addRule(home: string, { decision, project }: RulePlace, rule: WrittenRule): Promise<boolean> {
  return await edit(home, (rules) => {
    const list = (project === undefined ? rules : rules.projects?.[project])?.[decision] ?? [];
    if (list.some((each) => textOf(each) === textOf(rule))) return undefined;
    return { path: [...pathOf(project), decision, list.length], value: rule, isInsertion: list.length > 0 };
  });
}

/** Removes every rule with this text; returns whether there was one. */
export async function removeRule(home: string, { decision, project }: RulePlace, text: string): Promise<boolean> {
  return await edit(home, (rules) => {
    const list = (project === undefined ? rules : rules.projects?.[project])?.[decision] ?? [];
    const index = list.findIndex((each) => textOf(each) === text);
    return index < 0
      ? undefined
      : { path: [...pathOf(project), decision, index], value: undefined, isInsertion: false };
  });
}

export function textOf(rule: WrittenRule): string {
  return typeof rule === "string" ? rule : rule.rule;
}

function pathOf(project: string | undefined): string[] {
  return project === undefined ? [] : ["projects", project];
}

interface Edit {
  readonly path: (string | number)[];
  readonly value: WrittenRule | undefined;
  readonly isInsertion: boolean;
}

/** A file that cannot be read is not changed: its rules would be lost. */
async function edit(home: string, change: (rules: PermissionsFile) => Edit | undefined): Promise<boolean> {
  const path = homePaths(home).permissions;
  await makeDirectory(home);
  return await withFileLock(`${path}.lock`, async () => {
    const read = await readPermissions(home);
    if (!read.ok) throw new InvalidInputError(`${read.problem}. Fix the file first`);
    const wanted = change(read.rules);
    if (wanted === undefined) return false;
    const { modify, applyEdits } = await import("jsonc-parser");
    const before = await readRegular(path, { links: "follow", maxBytes }).then(String, () => "{}");
    // A list that does not exist yet is created with its first rule.
    const isNewList = !wanted.isInsertion && wanted.value !== undefined;
    const edits = isNewList
      ? modify(before, wanted.path.slice(0, -1), [wanted.value], options)
      : modify(before, wanted.path, wanted.value, { ...options, isArrayInsertion: wanted.isInsertion });
    const text = applyEdits(before, edits);
    check(PermissionsFile, isRecord(await jsonOf(text)) ? await jsonOf(text) : undefined, "permissions.json");
    const target = await realpath(path).catch(() => path);
    await writeAtomic(target, text.endsWith("\n") ? text : `${text}\n`);
    return true;
  });
}

const options = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: "\n" } } as const;

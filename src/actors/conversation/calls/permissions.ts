import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { InvalidInputError } from "../../../base/errors.js";
import { conversationFolders, type Homes } from "../../../config/paths.js";
import {
  addRule,
  permissionStamp,
  projectRulesFile,
  readPermissions,
  readProjectPermissions,
} from "../../../config/permissions/permissions-file.js";
import { wordsText } from "../../../config/permissions/import-codex.js";
import { isTrustedRoot } from "../../../config/project/trust.js";
import type { RuleLists } from "../../../messages/tools/permissions.js";
import type { ActiveRules } from "../../../tools/policy/approval-policy.js";
import { compileRules, type Rule } from "../../../tools/policy/rules.js";
import { secretPaths } from "../../../tools/policy/secret-files.js";

interface PermissionParts {
  readonly homes: Homes;
  readonly userHome: string;
  /** Rules of this manager, besides those in the home. */
  readonly rules: RuleLists;
  /** Folders of conversations that are not in the home. */
  readonly conversationFolders: readonly string[];
}

interface CachedRules {
  readonly stamp: string;
  readonly rules: Promise<ActiveRules>;
}

/** More projects than this are read again. */
const maxCached = 100;

/** The rules about what tools may do, read again whenever a file has changed, and the files that tools keep away from. */
export class Permissions {
  readonly #parts: PermissionParts;
  #temporary: Promise<readonly string[]> | undefined;
  readonly #cached = new Map<string, CachedRules>();

  constructor(parts: PermissionParts) {
    this.#parts = parts;
  }

  /** Returns the rules for a project. `root` is its real path. */
  async rulesOf(root: string): Promise<ActiveRules> {
    const stamp = await permissionStamp(this.#parts.homes.home, root);
    const known = this.#cached.get(root);
    if (known?.stamp === stamp) return await known.rules;
    const rules = this.#read(root);
    if (this.#cached.size >= maxCached) this.#cached.clear();
    this.#cached.set(root, { stamp, rules });
    return await rules;
  }

  /** Allows commands that begin with these words in a project, for good. */
  async allowForGood(root: string, words: readonly string[]): Promise<void> {
    await addRule(this.#parts.homes.home, { decision: "allow", project: root }, `${wordsText(words)} *`);
  }

  /** The files and folders that hold keys of other programs, and conversations, as real paths. */
  async closedPaths(): Promise<readonly string[]> {
    const { homes, userHome, conversationFolders: others } = this.#parts;
    const all = [...secretPaths(userHome), ...conversationFolders(homes), ...others];
    return await realPaths(all);
  }

  /** The folders in which others than the user may put programs, besides the workspace. */
  temporaryFolders(): Promise<readonly string[]> {
    return (this.#temporary ??= realPaths(["/tmp", "/var/tmp", "/dev/shm", tmpdir()]));
  }

  async #read(root: string): Promise<ActiveRules> {
    const { homes, userHome, rules: given } = this.#parts;
    const [own, isTrusted] = await Promise.all([readPermissions(homes.home), isTrustedRoot(homes.home, root)]);
    const theirs = isTrusted ? await readProjectPermissions(root) : { ok: true as const, rules: {} };
    if (!own.ok || !theirs.ok) {
      const problem = !own.ok ? own.problem : theirs.ok ? "" : theirs.problem;
      return { user: [], project: [], problem };
    }
    const { projects = {}, ...everywhere } = own.rules;
    const places = { userHome, root: undefined };
    try {
      return {
        user: [
          ...compileRules(everywhere, { ...places, source: "permissions.json" }).filter(
            (rule) => isTrusted || !allowsGit(rule),
          ),
          ...compileRules(projects[root] ?? {}, { ...places, root, source: `permissions.json, projects, ${root}` }),
          ...compileRules(given, { ...places, root, source: "this run" }),
        ],
        project: projectRules(theirs.rules, { ...places, root, source: projectRulesFile }),
      };
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      return { user: [], project: [], problem: error.message };
    }
  }
}

/**
 * Git runs programs that the configuration of a repository names, even for `git status`. So a rule for all projects
 * covers it only where the project is trusted.
 */
function allowsGit({ decision, pattern }: Rule): boolean {
  return decision === "allow" && pattern.kind === "command" && basename(pattern.words[0] ?? "") === "git";
}

/** A project's rules that would allow something are left out: it can only make decisions stricter. */
function projectRules({ ask = [], deny = [] }: RuleLists, places: Parameters<typeof compileRules>[1]): Rule[] {
  return compileRules({ ask, deny }, places);
}

async function realPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return [...new Set(real)];
}

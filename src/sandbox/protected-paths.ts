import { lstat, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isInside } from "../base/fs/path-checks.js";
import { commonDirectoryNamed, gitDirectoryNamed, readSmall } from "../base/git/git-directory.js";
import { findProjectRoot } from "../config/project/project.js";
import { instructionNames } from "../context/instructions.js";
import type { Mount } from "./bwrap-arguments.js";
import type { Placeholder } from "./placeholders.js";

/** Paths that commands must not change in folders that they may write to. */
export interface Protection {
  readonly mounts: readonly Mount[];
  /**
   * Paths that must not be created; they become read-only too. Also those with what may be the placeholder of another
   * command: if that ends first, the placeholder is still needed.
   */
  readonly absent: readonly Placeholder[];
  /** Links, on which nothing can be mounted: a command can replace them, so they are restored after it. */
  readonly links: readonly ProtectedLink[];
}

interface ProtectedLink {
  readonly path: string;
  readonly target: string;
}

/** Programs of a user read these when they are in a project: other agents and editors run commands named in them. */
const ofOtherPrograms = [".agents", ".claude", ".codex", ".mcp.json", ".vscode", ".idea", ".envrc"];

/** Shells and other programs of the user run these. */
const startupFiles = [
  [".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc", ".zshrc", ".zshenv", ".zprofile"],
  [".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment"],
  [".gitconfig", ".config", ".local/bin", ".local/share/applications", "bin", ".vimrc", ".vim", ".emacs", ".emacs.d"],
  [".tmux.conf", ".screenrc", ".wgetrc", ".curlrc", ".gdbinit", ".pythonrc", ".irbrc", ".npmrc", ".bunfig.toml"],
].flat();

/**
 * Protects what programs outside of the sandbox execute or obey: git's hooks and configuration, cody's configuration of
 * the project, instruction files. In the workspace, also those that do not exist yet. All paths are real paths.
 */
export async function findProtection(
  writable: readonly [workspace: string, ...others: string[]],
  home: string,
): Promise<Protection> {
  const [workspace, ...others] = writable;
  const parts = await Promise.all([
    protectGit(workspace),
    protectNames(workspace, [".cody", ...instructionNames], "even-absent"),
    ...others.map((folder) => protectNames(folder, [".git", ".cody", ...instructionNames])),
    ...writable.map((folder) => protectNames(folder, ofOtherPrograms)),
    ...(writable.some((folder) => isInside(folder, home)) ? [protectNames(home, startupFiles)] : []),
  ]);
  return joined(parts);
}

async function protectNames(
  folder: string,
  names: readonly string[],
  extent: "existing" | "even-absent" = "existing",
): Promise<Protection> {
  const paths = names.map((name) => join(folder, name));
  const found = await Promise.all(paths.map(async (path) => ({ path, kind: await kindOf(path) })));
  const targets = await Promise.all(found.filter(({ kind }) => kind === "other").map(({ path }) => targetOf(path)));
  return {
    mounts: [
      ...found.flatMap(({ path, kind }) => (kind === "file" || kind === "folder" ? [readOnly(path)] : [])),
      ...targets.flatMap((target) => (target === undefined ? [] : [readOnly(target)])),
    ],
    // A folder and not a file, because git would add a file to a commit.
    absent: extent === "existing" ? [] : await amongPlaceholders(found),
    links: await linksAmong(found.flatMap(({ path, kind }) => (kind === "other" ? [path] : []))),
  };
}

/** The file or folder that a link leads to. */
async function targetOf(link: string): Promise<string | undefined> {
  const path = await realpath(link).catch(() => undefined);
  const kind = path === undefined ? undefined : await kindOf(path);
  return kind === "file" || kind === "folder" ? path : undefined;
}

/**
 * The repository of a workspace stays writable, so that commits are possible, but not its hooks and configurations.
 * Without a repository, none can be created.
 */
async function protectGit(workspace: string): Promise<Protection> {
  const own = join(workspace, ".git");
  const path = join(await realpath(await findProjectRoot(workspace)), ".git");
  const repository = await protectGitAt(path, await kindOf(path));
  return path === own ? repository : joined([repository, await protectNames(workspace, [".git"], "even-absent")]);
}

async function protectGitAt(path: string, kind: Kind): Promise<Protection> {
  // An empty folder is no repository, but may be a placeholder.
  const isRepository = kind === "folder" && !(await mayBePlaceholder({ path, kind }));
  if (isRepository) return await protectRepository(path);
  if (kind === "file") return await protectWorktree(path);
  return await protectNames(dirname(path), [".git"], "even-absent");
}

/** Paths in the git directory that git executes, or where it finds something to execute. */
const gitParts = ["config", "config.worktree", "hooks", "modules", "worktrees", "commondir", "gitdir"];

/** Git reads its configuration and hooks elsewhere if a file `commondir` says so; this one says that they are here. */
const commonDirectoryHere = ".\n";

/** Names that commands must not create as files, and the harmless content of their placeholders. */
const placeholderTexts: Readonly<Record<string, string | undefined>> = {
  config: "",
  "config.worktree": "",
  commondir: commonDirectoryHere,
};

async function protectRepository(directory: string): Promise<Protection> {
  const found = await Promise.all(
    gitParts.map(async (name) => ({ name, path: join(directory, name), kind: await kindOf(join(directory, name)) })),
  );
  // A link can be replaced, because nothing can be mounted on it.
  if (found.some(({ kind }) => kind === "other")) return { ...nothing, mounts: [readOnly(directory)] };
  return {
    // Mounted itself, so that it cannot be renamed and replaced.
    mounts: [
      { kind: "writable", path: directory },
      ...found.flatMap(({ path, kind }) => (kind === undefined ? [] : [readOnly(path)])),
    ],
    absent: await amongPlaceholders(
      found.flatMap(({ name, ...each }) => {
        const text = placeholderTexts[name];
        return text === undefined && name !== "hooks" ? [] : [text === undefined ? each : { ...each, text }];
      }),
    ),
    links: [],
  };
}

/**
 * A worktree's `.git` is a file that names a folder in its main repository, anywhere on the disk. It is believed only if
 * that folder names this worktree in return, which nobody can arrange who can write to the worktree only.
 */
async function protectWorktree(path: string): Promise<Protection> {
  const unknown: Protection = { ...nothing, mounts: [readOnly(path)] };
  const text = (await readSmall(path)) ?? "";
  const own = await realpath(gitDirectoryNamed(dirname(path), text)).catch(() => undefined);
  if (own === undefined) return unknown;
  const back = (await readSmall(join(own, "gitdir")))?.trim();
  const common = await realpath(commonDirectoryNamed(own, (await readSmall(join(own, "commondir"))) ?? "")).catch(
    () => undefined,
  );
  const isKnown =
    back !== undefined &&
    common !== undefined &&
    (await realpath(back).catch(() => undefined)) === path &&
    dirname(own) === join(common, "worktrees");
  if (!isKnown) return unknown;
  const [ofCommon, ofOwn] = await Promise.all([
    protectRepository(common),
    protectNames(own, ["commondir", "gitdir", "config.worktree", "hooks", "config"]),
  ]);
  return joined([ofCommon, ofOwn, { ...nothing, mounts: [readOnly(path), { kind: "writable", path: own }] }]);
}

const nothing: Protection = { mounts: [], absent: [], links: [] };

function joined(parts: readonly Protection[]): Protection {
  return {
    mounts: parts.flatMap(({ mounts }) => mounts),
    absent: parts.flatMap(({ absent }) => absent),
    links: parts.flatMap(({ links }) => links),
  };
}

async function linksAmong(paths: readonly string[]): Promise<ProtectedLink[]> {
  const found = await Promise.all(
    paths.map(async (path) => ({ path, target: await readlink(path).catch(() => undefined) })),
  );
  return found.flatMap(({ path, target }) => (target === undefined ? [] : [{ path, target }]));
}

/** Restores the links that a command has replaced. */
export async function restoreLinks(links: readonly ProtectedLink[]): Promise<void> {
  for (const { path, target } of links) {
    if ((await readlink(path).catch(() => undefined)) === target) continue;
    await rm(path, { recursive: true, force: true });
    await symlink(target, path);
  }
}

interface Candidate extends Placeholder {
  readonly kind: Kind;
}

/** The candidates whose path does not exist or may be a placeholder. */
async function amongPlaceholders(candidates: readonly Candidate[]): Promise<Placeholder[]> {
  const checked = await Promise.all(
    candidates.map(async ({ kind, ...placeholder }) => {
      const isWanted = kind === undefined || (await mayBePlaceholder({ ...placeholder, kind }));
      return isWanted ? [placeholder] : [];
    }),
  );
  return checked.flat();
}

/** Whether a command that runs just now may have created what is there. */
async function mayBePlaceholder({ path, text, kind }: Candidate): Promise<boolean> {
  if (kind === "folder") return text === undefined && (await readdir(path).catch(() => [path])).length === 0;
  return kind === "file" && text !== undefined && (await readSmall(path)) === text;
}

function readOnly(path: string): Mount {
  return { kind: "read-only", path };
}

/** `other` is a link, or something else that cannot be protected in place. */
type Kind = "file" | "folder" | "other" | undefined;

async function kindOf(path: string): Promise<Kind> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
}

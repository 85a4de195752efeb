import { basename } from "node:path";
import { errorMessage } from "../../../base/error-message.js";
import { isSecretFile, secretPaths } from "../../../tools/policy/secret-files.js";
import { fuzzyFind, type FuzzyMatch } from "./fuzzy.js";

export interface ProjectFilesOptions {
  /** The conversation's folder; nothing outside of it is listed. */
  readonly cwd: string;
  readonly homedir: string;
  /** Files and folders with tokens and keys, as tools know them. */
  readonly privatePaths: readonly string[];
  /** The environment of the process that lists the files. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxFiles?: number;
  /** Called when a list is complete. */
  readonly onLoaded: () => void;
}

const defaultMaxFiles = 20_000;
const maxBytes = 4_000_000;
/** Installed packages, also where no `.gitignore` lists them. */
const otherProjects = "!**/node_modules";

/**
 * The files of a project that `@` can name: those that git does not ignore, without files that hold secrets, and the
 * folders they are in. They are listed in the background.
 */
export class ProjectFiles {
  readonly #options: ProjectFilesOptions;
  readonly #closing = new AbortController();
  #paths: readonly string[] = [];
  #state: "idle" | "loading" | "loaded" = "idle";
  #problem: string | undefined;

  constructor(options: ProjectFilesOptions) {
    this.#options = options;
  }

  /** "idle" before the first `refresh`. */
  get state(): "idle" | "loading" | "loaded" {
    return this.#state;
  }

  /** Why there are no files, or not all. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Lists the files again, unless a list is just being made. Until it is complete, the files from before are found. */
  refresh(): void {
    if (this.#state === "loading" || this.#closing.signal.aborted) return;
    this.#state = "loading";
    void this.#load();
  }

  /** Paths relative to the project, best first; those of folders end with a slash. */
  find(query: string, limit: number): FuzzyMatch<string>[] {
    return fuzzyFind(query, this.#paths, { limit, textOf: (path) => path });
  }

  /** Stops listing. */
  close(): void {
    this.#closing.abort();
  }

  async #load(): Promise<void> {
    const { cwd, maxFiles = defaultMaxFiles, onLoaded } = this.#options;
    try {
      const { lines, isCut } = await this.#list(maxFiles);
      this.#paths = withFolders(lines.filter(isOffered));
      this.#problem = isCut ? `Only the first ${lines.length} files of ${cwd} are listed.` : undefined;
    } catch (error) {
      this.#problem = `Cannot list the files of ${cwd}: ${errorMessage(error)}`;
    }
    this.#state = "loaded";
    if (!this.#closing.signal.aborted) onLoaded();
  }

  async #list(maxLines: number) {
    const { cwd, homedir, privatePaths, env } = this.#options;
    // Loaded with the first list, because it is not needed for the first screen.
    const { ripgrepLines } = await import("../../../tools/search/ripgrep.js");
    const reading = {
      problem: () => Promise.resolve(undefined),
      hiddenIn: () => Promise.resolve({ paths: secretPaths(homedir), globs: [] }),
    };
    const { signal } = this.#closing;
    const scope = { cwd, env, privatePaths, reading, sandbox: "read-only" as const, signal };
    return await ripgrepLines({ path: ".", glob: otherProjects, args: ["--files"], maxLines, maxBytes }, scope);
  }
}

/** A name with a line break is reported as two lines, of which the second could be any path. */
function isOffered(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..") && !isSecretFile(basename(path));
}

/** Adds the folders. What is near the root comes first. */
function withFolders(files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return [...folders, ...files]
    .map((path) => ({ path, depth: depthOf(path) }))
    .toSorted((a, b) => a.depth - b.depth || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

function depthOf(path: string): number {
  return path.replace(/\/$/, "").split("/").length;
}

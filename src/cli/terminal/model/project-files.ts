import type { FuzzyMatch } from "./fuzzy.js";

export interface ProjectFilesOptions {
  /** The conversation's folder. */
  readonly cwd: string;
  readonly homedir: string;
  /** Files and folders with tokens and keys, as tools know them. */
  readonly privatePaths: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called when there are more files to find. */
  readonly onLoaded: () => void;
}

/** The files of a project that `@` can name. */
export class ProjectFiles {
  constructor(options: ProjectFilesOptions) {
    void options;
  }

  /** "idle" before `refresh`. */
  get state(): "idle" | "loading" | "loaded" {
    return "idle";
  }

  /** Why there are no files, or not all. */
  get problem(): string | undefined {
    return undefined;
  }

  /** Lists the files again in the background. */
  refresh(): void {}

  /** Files, and folders with a slash at the end; best first. */
  find(_query: string, _limit: number): FuzzyMatch<string>[] {
    return [];
  }

  /** Stops listing. */
  close(): void {}
}

import { join, resolve } from "node:path";
import type { Config, Layout } from "../messages/config.js";
import { InvalidInputError } from "../base/errors.js";
import { homePaths } from "./paths.js";
import { effectiveSetting } from "./settings/effective-settings.js";

/** The directories that hold conversations. */
export interface ConversationPlaces {
  readonly layout: Layout;
  /** New conversations are created here; a list shows all of them. */
  readonly directory: string;
  /** Directories searched for an id that is not in `directory`. */
  readonly elsewhere: readonly string[];
  /**
   * Directories of other layouts that a list also shows. From Codex's, only conversations that cody created are shown.
   */
  readonly alsoListed: readonly string[];
  /** Codex's home. Codex may be writing to its rollouts at the same time. */
  readonly codexHome: string | undefined;
  /** cody's home. */
  readonly home: string;
}

export interface PlacesInput {
  readonly home: string;
  readonly codexHome: string | undefined;
  readonly persistence: Config["persistence"];
  /** Whether a list shows only `directory`. */
  readonly listsOnlyDirectory?: boolean;
}

/**
 * A configured directory is the only one searched. Otherwise cody's and Codex's default directories each also find the
 * conversations in the other.
 */
export function conversationPlaces(input: PlacesInput): ConversationPlaces {
  const { home, codexHome, persistence, listsOnlyDirectory = false } = input;
  const layout = effectiveSetting({ persistence }, "persistence.layout");
  const own = homePaths(home).conversations;
  const codex = codexHome === undefined ? undefined : codexSessions(codexHome);
  const usual = layout === "codex" ? codex : own;
  const directory = persistence?.directory === undefined ? usual : resolve(home, persistence.directory);
  if (directory === undefined) throw new InvalidInputError("layout codex: no home directory found; set CODEX_HOME");
  const known = [own, ...(codex === undefined ? [] : [codex])];
  const elsewhere = known.includes(directory) ? known.filter((place) => place !== directory) : [];
  return { layout, directory, elsewhere, alsoListed: listsOnlyDirectory ? [] : elsewhere, codexHome, home };
}

/**
 * The directory under which the active conversation is recorded: the same for all layouts, unless a directory is
 * configured.
 */
export function activeDirectory({ directory, elsewhere, home }: ConversationPlaces): string {
  const own = homePaths(home).conversations;
  return elsewhere.includes(own) ? own : directory;
}

/** Every directory with conversations, including a configured one; the current directory comes first. */
export function everyDirectory(
  home: string,
  { directory, codexHome }: Pick<ConversationPlaces, "directory" | "codexHome">,
): string[] {
  const codex = codexHome === undefined ? [] : [codexSessions(codexHome)];
  return [...new Set([directory, homePaths(home).conversations, ...codex])];
}

/** Every searched directory, with the file that holds the names of its conversations. */
export function namedDirectories({
  directory,
  elsewhere,
  codexHome,
}: Pick<ConversationPlaces, "directory" | "elsewhere" | "codexHome">): { directory: string; names: string }[] {
  return [directory, ...elsewhere].map((place) => ({ directory: place, names: namesFile(place, codexHome) }));
}

/** Codex has its own file for names and shows only names from that file. */
export function namesFile(directory: string, codexHome: string | undefined): string {
  return codexHome !== undefined && directory === codexSessions(codexHome)
    ? join(codexHome, "session_index.jsonl")
    : join(directory, ".names.jsonl");
}

/** The file that lists a directory's pinned conversations. cody writes none of its own files into Codex's directory. */
export function pinsFile(directory: string, places: Pick<ConversationPlaces, "codexHome" | "home">): string {
  return isCodexDirectory(directory, places) ? homePaths(places.home).codexPins : join(directory, ".pins.jsonl");
}

/** Whether Codex keeps its rollouts in this directory. */
export function isCodexDirectory(directory: string, { codexHome }: Pick<ConversationPlaces, "codexHome">): boolean {
  return codexHome !== undefined && directory === codexSessions(codexHome);
}

/** The directory of Codex's rollouts. */
export function codexSessions(codexHome: string): string {
  return join(codexHome, "sessions");
}

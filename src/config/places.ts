import { join, resolve } from "node:path";
import type { Config, Layout } from "../messages/config.js";
import { InvalidInputError } from "../base/errors.js";
import { homePaths } from "./paths.js";

/** How much is kept for each conversation of outputs that are too long for the model. */
export const defaultBlobMegabytes = 100;

/** Where conversations are. */
export interface ConversationPlaces {
  readonly layout: Layout;
  /** Where new ones go; a list shows all of them. */
  readonly directory: string;
  /** Where an id is looked for that is not there. */
  readonly elsewhere: readonly string[];
  /** The directories of other layouts that a list shows too; of Codex's only what cody has begun there. */
  readonly alsoListed: readonly string[];
  /** Codex's home, whose rollouts Codex may be writing. */
  readonly codexHome: string | undefined;
  /** cody's own. */
  readonly home: string;
}

export interface PlacesInput {
  readonly home: string;
  readonly codexHome: string | undefined;
  readonly persistence: Config["persistence"];
  /** Whether a list is to show only the directory itself. */
  readonly listsOnlyDirectory?: boolean;
}

/** A directory somebody chose is all there is; of the two that are chosen by themselves each finds what is in the other. */
export function conversationPlaces(input: PlacesInput): ConversationPlaces {
  const { home, codexHome, persistence, listsOnlyDirectory = false } = input;
  const layout = persistence?.layout ?? "cody";
  const own = homePaths(home).conversations;
  const codex = codexHome === undefined ? undefined : codexSessions(codexHome);
  const usual = layout === "codex" ? codex : own;
  const directory = persistence?.directory === undefined ? usual : resolve(home, persistence.directory);
  if (directory === undefined) throw new InvalidInputError("layout codex: there is no home directory; set CODEX_HOME");
  const known = [own, ...(codex === undefined ? [] : [codex])];
  const elsewhere = known.includes(directory) ? known.filter((place) => place !== directory) : [];
  return { layout, directory, elsewhere, alsoListed: listsOnlyDirectory ? [] : elsewhere, codexHome, home };
}

/** The directory that the active conversation belongs to: one for all layouts, unless somebody chose a directory. */
export function activeDirectory({ directory, elsewhere, home }: ConversationPlaces): string {
  const own = homePaths(home).conversations;
  return elsewhere.includes(own) ? own : directory;
}

/** Every directory conversations are kept in, the one that counts first, also when somebody chose it. */
export function everyDirectory(
  home: string,
  { directory, codexHome }: Pick<ConversationPlaces, "directory" | "codexHome">,
): string[] {
  const codex = codexHome === undefined ? [] : [codexSessions(codexHome)];
  return [...new Set([directory, homePaths(home).conversations, ...codex])];
}

/** Every directory that is looked in, and where it is kept how the conversations in it are called. */
export function namedDirectories({
  directory,
  elsewhere,
  codexHome,
}: Pick<ConversationPlaces, "directory" | "elsewhere" | "codexHome">): { directory: string; names: string }[] {
  return [directory, ...elsewhere].map((place) => ({ directory: place, names: namesFile(place, codexHome) }));
}

/** Codex has a file of its own for names, and shows only what stands there. */
export function namesFile(directory: string, codexHome: string | undefined): string {
  return codexHome !== undefined && directory === codexSessions(codexHome)
    ? join(codexHome, "session_index.jsonl")
    : join(directory, ".names.jsonl");
}

/** Where it is kept which conversations of a directory are pinned: nothing of ours is put into Codex's. */
export function pinsFile(directory: string, places: Pick<ConversationPlaces, "codexHome" | "home">): string {
  return isCodexs(directory, places) ? homePaths(places.home).codexPins : join(directory, ".pins.jsonl");
}

/** Whether a directory is the one Codex keeps its rollouts in. */
export function isCodexs(directory: string, { codexHome }: Pick<ConversationPlaces, "codexHome">): boolean {
  return codexHome !== undefined && directory === codexSessions(codexHome);
}

/** Where Codex keeps its rollouts. */
export function codexSessions(codexHome: string): string {
  return join(codexHome, "sessions");
}

import { existsSync, fstatSync, readFileSync, writeSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { configNames, maySetPlaces, setsPlaces } from "../../config/settings/config-names.js";
import { codyHome, homePaths } from "../../config/paths.js";
import { harmless } from "../../base/text/harmless.js";
import { cachedPage } from "../../rollouts/list/cached-list.js";
import { exitCodes } from "../command-error.js";
import { pageText } from "../commands/conversations/list-page.js";
import { maxWords, wordLines } from "./conversation-words.js";
import { namedConversations, type SavedConversation } from "./named-conversations.js";
import { outputTo, unwritten } from "../terminal/output.js";

const stdoutDescriptor = 1;

/**
 * Prints a plain `cody list` from the cache of the previous one, before the rest of cody is loaded, which would take
 * longer than everything else. Returns false if the cache is not enough; the list command then does the work.
 */
export async function printQuickList(args: readonly string[]): Promise<boolean> {
  const text = quickList(args, process.env);
  if (text === undefined) return false;
  const failure = await printed(`${text}\n`, args.includes("--json"));
  if (failure !== undefined) {
    process.exitCode = exitCodes.failed;
    await outputTo(process.stderr).write(`✗ ${unwritten(failure)}\n`);
  }
  return true;
}

/** Prints the words for a completion script in the same way; a failure to write them is not reported. */
export async function printQuickWords(): Promise<boolean> {
  const found = cachedConversations(process.env, maxWords);
  if (found === undefined) return false;
  await printed(wordLines(found.conversations), false);
  return true;
}

/**
 * Writes to the descriptor directly unless it is a terminal or full: creating a stream takes longer than printing the
 * page.
 */
async function printed(text: string, isJson: boolean): Promise<Error | undefined> {
  const bytes = Buffer.from(isJson ? text : harmless(text));
  let written = 0;
  try {
    if (!fstatSync(stdoutDescriptor).isCharacterDevice()) {
      while (written < bytes.length) written += writeSync(stdoutDescriptor, bytes, written);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A reader that has left is not an error. For a slow reader, the stream below takes over.
    if (code === "EPIPE") return undefined;
    if (code !== "EAGAIN") return error as Error;
  }
  if (written === bytes.length) return undefined;
  const stdout = outputTo(process.stdout);
  // The rest is written as bytes too, because the first write may have split a character.
  if (written > 0) stdout.stream.write(bytes.subarray(written));
  else await (isJson ? stdout.writeExact(text) : stdout.write(text));
  await stdout.flush();
  return stdout.failure;
}

function quickList(args: readonly string[], env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const flags = flagsIn(args);
  if (flags === undefined) return undefined;
  const { limit } = flags;
  const found = cachedConversations(env, limit === undefined ? undefined : limit + 1);
  if (found === undefined) return undefined;
  return pageText(found.conversations, { total: found.total, limit, order: "updated", flags });
}

interface CachedConversations {
  readonly conversations: readonly SavedConversation[];
  readonly total: number;
}

/** The newest conversations; undefined if the cache or the configuration is not enough to know them. */
function cachedConversations(
  env: Readonly<NodeJS.ProcessEnv>,
  limit: number | undefined,
): CachedConversations | undefined {
  const homedir = env["HOME"] ?? "";
  if (!env["CODY_HOME"] && !isAbsolute(homedir)) return undefined;
  const home = codyHome({ env, homedir });
  if (setsPlaces(env) || !hasDefaultPlaces(home)) return undefined;
  const { conversations, heads, codexRegister } = homePaths(home);
  // Conversations in Codex's directory need the full list command.
  if (existsSync(codexRegister)) return undefined;
  const found = cachedPage(conversations, heads, limit === undefined ? {} : { limit });
  if (found === undefined) return undefined;
  const named = namedConversations(conversations, { codexHome: undefined, home }, found.conversations);
  return { conversations: named, total: found.total };
}

interface QuickFlags {
  limit?: number;
  json?: boolean;
}

/** The flags this shortcut supports; undefined for any others and for mistakes, which the full parser handles. */
function flagsIn(args: readonly string[]): QuickFlags | undefined {
  const flags: QuickFlags = {};
  for (let at = 0; at < args.length; at += 1) {
    const value = args[at + 1] ?? "";
    if (args[at] === "--json") flags.json = true;
    else if (args[at] === "--limit" && /^[1-9]\d{0,8}$/.test(value)) {
      flags.limit = Number(value);
      at += 1;
    } else return undefined;
  }
  return flags;
}

/** True if no configuration file may change where conversations are stored. */
function hasDefaultPlaces(home: string): boolean {
  return configNames.every((name) => {
    try {
      return !maySetPlaces(readFileSync(join(home, name), "utf8"));
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT";
    }
  });
}

import { resolve } from "node:path";
import { readConfigText } from "../config/config-file.js";
import { loadConfig } from "../config/load-config.js";
import { homePaths } from "../config/paths.js";
import type { CommandContext } from "./context.js";

/** Where conversations are kept. The whole configuration, and with it the schemas, is loaded only if it may say so. */
export async function conversationDirectory({ flags, home, terminal }: CommandContext): Promise<string> {
  if (flags.conversationDir !== undefined) return resolve(terminal.cwd, flags.conversationDir);
  const { config, conversations } = homePaths(home);
  const text = await readConfigText(config);
  if (text === undefined || !text.includes("directory")) return conversations;
  const { values } = await loadConfig({ home, flags: {} });
  return values.persistence.directory;
}

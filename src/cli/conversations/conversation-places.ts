import { resolve } from "node:path";
import { readConfigFile } from "../../config/files/config-file.js";
import { maySetPlaces, setsPlaces } from "../../config/settings/config-names.js";
import { loadConfig } from "../../config/load-config.js";
import { codexSessions, conversationPlaces, type ConversationPlaces, type PlacesInput } from "../../config/paths.js";
import { usageError } from "../command-error.js";
import type { SettingFlag } from "../arguments/flag-table.js";
import type { CommandContext, SharedContext } from "../context.js";

/** The places conversations are stored in. Loads the configuration and the schemas only if it may set them. */
export async function loadPlaces(context: SharedContext<SettingFlag | "codex">): Promise<ConversationPlaces> {
  const { home, codexHome } = context;
  const { codex = false } = context.flags;
  const persistence = codex ? codexPersistence(context) : await persistenceOf(context);
  return conversationPlaces({ home, codexHome, persistence, listsOnlyDirectory: codex });
}

/** The settings for `--codex`: Codex's own rollouts, whatever is configured. */
export function codexPersistence({ codexHome }: CommandContext): { layout: "codex"; directory: string } {
  if (codexHome === undefined) throw usageError("--codex: no home directory found; set CODEX_HOME");
  return { layout: "codex", directory: codexSessions(codexHome) };
}

async function persistenceOf(context: SharedContext<SettingFlag>): Promise<PlacesInput["persistence"]> {
  const { flags, home, codexHome, terminal } = context;
  if (flags.conversationDir !== undefined) return { directory: resolve(terminal.cwd, flags.conversationDir) };
  const text = (await readConfigFile(home))?.text ?? "";
  if (flags.layout === undefined && !setsPlaces(terminal.env) && !maySetPlaces(text)) return {};
  const { configFlags } = await import("../arguments/config-flags.js");
  return (await loadConfig({ home, codexHome, env: terminal.env, flags: configFlags(context) })).values.persistence;
}

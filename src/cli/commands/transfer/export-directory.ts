import { readFile } from "node:fs/promises";
import { isAbsolute, join, normalize, resolve } from "node:path";
import type { CommandContext } from "../../context.js";

type Surroundings = Pick<CommandContext, "home" | "terminal">;

/**
 * The folder for exports: the configured one, relative to the home unless absolute; else the desktop's download folder;
 * else `~/Downloads`, which may not exist yet.
 */
export async function exportDirectory({ home, terminal }: Surroundings, configured?: string): Promise<string> {
  if (configured !== undefined) {
    return configured.startsWith("~/") ? join(terminal.homedir, configured.slice(2)) : resolve(home, configured);
  }
  const { homedir } = terminal;
  const config = terminal.env["XDG_CONFIG_HOME"] || join(homedir, ".config");
  const text = await readFile(join(config, "user-dirs.dirs"), "utf8").catch(() => "");
  return downloadsIn(text, homedir) ?? join(homedir, "Downloads");
}

const downloadLine = /^[ \t]*XDG_DOWNLOAD_DIR=(?:"((?:[^"\\]|\\.)*)"|(\S+))[ \t]*$/gm;

/** A shell reads this file, so the last line wins. The home itself as the value means that there is no such folder. */
function downloadsIn(text: string, homedir: string): string | undefined {
  const [, quoted, bare] = [...text.matchAll(downloadLine)].at(-1) ?? [];
  const value = (quoted ?? bare)?.replaceAll(/\\(.)/g, "$1").replace(/^\$HOME(?=\/|$)/, homedir);
  if (value === undefined || !isAbsolute(value)) return undefined;
  const folder = normalize(`${value}/`).slice(0, -1);
  return folder === normalize(`${homedir}/`).slice(0, -1) ? undefined : folder;
}

import { join, isAbsolute, normalize, resolve } from "node:path";
import { readFile } from "node:fs/promises";
import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../../../rollouts/formats/export/export-lines.js";
import type { CommandContext } from "../../context.js";
import { filterByProject, savedConversations } from "../../conversations/project-conversations.js";
import { describeError } from "../../describe-error.js";
import type { Workspace, Target } from "../../workspace.js";
import { writeNewFile } from "./new-file.js";

const downloadLine = /^[ \t]*XDG_DOWNLOAD_DIR=(?:"((?:[^"\\]|\\.)*)"|(\S+))[ \t]*$/gm;

export const nothingExportedText = "Nothing was exported: persistence is off, so no conversation is saved";

export interface ExportedFile {
  readonly id: string;
  readonly format: ExportFormat;
  readonly path: string;
  readonly bytes: number;
  /** Counts, by kind, of content that the format cannot represent. */
  readonly left: Readonly<Record<string, number>>;
}

/** Exports a conversation into the configured directory, under a free name. */
export async function exportToDirectory(
  context: CommandContext,
  workspace: Workspace,
  target: Target,
  { format, signal }: { readonly format: ExportFormat; readonly signal: AbortSignal },
): Promise<ExportedFile> {
  const directory = await exportDirectory(context, workspace.config.export?.directory);
  const exported = await workspace.export(target, format);
  const file = await writeNewFile(exported, (attempt) => join(directory, exported.fileName(attempt)), signal);
  return exportReport(exported, file);
}

export function exportReport(
  { conversationId: id, format, left }: ExportedConversation,
  file: { readonly path: string; readonly bytes: number },
): ExportedFile {
  return { id, format, ...file, left: Object.fromEntries(left) };
}

export function reportText({ id, path }: ExportedFile): string {
  return `✓ Exported conversation: ${id}\n  File: ${path}`;
}

/** Describes the content missing from an export; undefined if it is complete. */
export function lossText(
  format: ExportFormat,
  left: Iterable<readonly [kind: string, count: number]>,
): string | undefined {
  const kinds = [...left].map(([kind, count]) => `${count} × ${kind}`);
  return kinds.length === 0
    ? undefined
    : `Left out, because the format ${format} cannot represent it: ${kinds.join(", ")}`;
}

interface ProjectExport {
  readonly exported: readonly ExportedFile[];
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
  /** Conversations too damaged to tell which project they belong to. */
  readonly unreadable: readonly string[];
}

/** Exports every non-empty conversation of the project. One that cannot be read does not stop the others. */
export async function exportProject(
  context: CommandContext,
  workspace: Workspace,
  options: { readonly format: ExportFormat; readonly signal: AbortSignal },
): Promise<ProjectExport> {
  const all = savedConversations(context, workspace.places);
  const unreadable = all.flatMap(({ id, cwd, damaged }) => (damaged && cwd === undefined ? [id] : []));
  const exported: ExportedFile[] = [];
  const failed: ProjectExport["failed"][number][] = [];
  for (const { id, empty, damaged } of await filterByProject(context, all, workspace.key.projectRoot)) {
    if (empty && !damaged) continue;
    try {
      exported.push(await exportToDirectory(context, workspace, { id }, options));
    } catch (error) {
      options.signal.throwIfAborted();
      const { lines, unexpected } = describeError(error);
      if (unexpected) throw error;
      failed.push({ id, reason: reasonIn(lines) });
    }
  }
  return { exported, failed, unreadable };
}

export function projectText({ exported, failed, unreadable }: ProjectExport): string {
  if (exported.length + failed.length + unreadable.length === 0) {
    return "No conversations to export in this project.";
  }
  const reasons = failed.map(({ id, reason }) => `  ${id}: ${reason}`);
  return [
    exported.length === 0 ? "Nothing was exported" : `✓ Exported ${exported.length} conversation(s)`,
    ...exported.map(({ path }) => `  ${path}`),
    ...(failed.length === 0 ? [] : [`✗ Not exported: ${failed.length}`, ...reasons]),
    ...(unreadable.length === 0 ? [] : [`✗ Cannot read ${unreadable.length}: ${unreadable.join(", ")}`]),
  ].join("\n");
}

/** Removes the marks and indentation for the terminal. */
function reasonIn(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/^✗ /, "").trim()).join("; ");
}

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

/** A shell reads this file, so the last line wins. The home itself as the value means that there is no such folder. */
function downloadsIn(text: string, homedir: string): string | undefined {
  const [, quoted, bare] = [...text.matchAll(downloadLine)].at(-1) ?? [];
  const value = (quoted ?? bare)?.replaceAll(/\\(.)/g, "$1").replace(/^\$HOME(?=\/|$)/, homedir);
  if (value === undefined || !isAbsolute(value)) return undefined;
  const folder = normalize(`${value}/`).slice(0, -1);
  return folder === normalize(`${homedir}/`).slice(0, -1) ? undefined : folder;
}

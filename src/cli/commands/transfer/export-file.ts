import { join } from "node:path";
import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { ExportedConversation } from "../../../rollouts/formats/export/export-lines.js";
import type { CommandContext } from "../../context.js";
import type { Workspace } from "../../workspace.js";
import { exportDirectory } from "./export-directory.js";
import { writeNewFile } from "./new-file.js";
import type { Target } from "../../conversations/target.js";

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

export const nothingExportedText = "Nothing was exported: persistence is off, so no conversation is saved";

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

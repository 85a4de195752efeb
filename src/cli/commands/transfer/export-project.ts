import type { ExportFormat } from "../../../rollouts/formats/export/export-format.js";
import type { CommandContext } from "../../context.js";
import { describeError } from "../../describe-error.js";
import { filterByProject, savedConversations } from "../../conversations/project-conversations.js";
import type { Workspace } from "../../workspace.js";
import { type ExportedFile, exportToDirectory } from "./export-file.js";

export interface ProjectExport {
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
